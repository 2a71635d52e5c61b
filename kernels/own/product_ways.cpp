// Where the products of a Product are, and how many make a task.
#include <algorithm>

#include "kernels/own/product_ways.h"

namespace lathe::own {

ProductPlace place_of(const Product& p, int64_t product) {
  ProductPlace at;
  at.left.windows.assign(p.left.windows(), 0);
  at.right.windows.assign(p.right.windows(), 0);
  for (size_t r = p.repeats.size(); r-- > 0;) {
    const Product::Repeat& axis = p.repeats[r];
    const int64_t x = product % axis.extent;
    product /= axis.extent;
    at.left.offset += x * axis.left;
    at.right.offset += x * axis.right;
    at.out += x * axis.out;
    for (size_t w = 0; w < at.left.windows.size(); ++w)
      at.left.windows[w] += x * axis.left_windows[w];
    for (size_t w = 0; w < at.right.windows.size(); ++w)
      at.right.windows[w] += x * axis.right_windows[w];
  }
  return at;
}

int64_t tasks_together(int64_t multiplications) {
  return std::max<int64_t>(1, kTask / std::max<int64_t>(1, multiplications));
}

}  // namespace lathe::own
