// Views move nothing: the same storage under another geometry.
#include "kernels/own/implementations.h"

namespace lathe::own {

void run_view(const Call& call, Outputs& outputs) {
  Tensor x = call.args.tensor(0);
  Geometry seen = call.op.geometry(x.geometry(), call.args);
  outputs.push_back(make_tensor(x.impl()->storage, call.types[0].dtype, std::move(seen)));
}

}  // namespace lathe::own
