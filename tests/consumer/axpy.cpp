// axpy through the builder: construct a graph, compile it to a handle, execute that with data.
#include <lathe/lathe.hpp>

#include <cstdio>

int main() {
  auto axpy = lathe::trace(
      [](lathe::Tensor alpha, lathe::Tensor x, lathe::Tensor y) { return alpha * x + y; }, "axpy");
  lathe::Tensor alpha({3.f}, {});
  lathe::Tensor x({1.f, 2.f, 3.f}, {3}), y({4.f, 5.f, 6.f}, {3});
  lathe::Program handle = axpy.capture({alpha, x, y});
  handle.compile();
  for (float v : handle(alpha, x, y).values<float>()) std::printf("%g ", v);
  std::printf("\n");
}
