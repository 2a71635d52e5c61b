// Elementwise, create and random definitions: from a call to an ElementwiseLaunch.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/tensor/random.h"
#include "kernels/own/copy.h"
#include "kernels/own/elementwise_launch.h"
#include "kernels/own/implementations.h"
#include "kernels/own/program.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"

namespace lathe::own {
namespace {

/// Elements that travel with a launch rather than in a tensor: numbers, and 0-d tensors of the
/// host.
using Room = std::array<std::byte, 16>;
using Rooms = std::shared_ptr<absl::InlinedVector<Room, 3>>;

struct Inputs {
  absl::InlinedVector<BodyInput, 4> types;
  absl::InlinedVector<Operand, 4> operands;
  Tensors tensors;
  Rooms rooms;
};

void add_uniform(Inputs& in, size_t most, DType dtype, bool number,
                 absl::FunctionRef<void(std::byte*)> fill) {
  if (in.rooms == nullptr) {
    in.rooms = std::make_shared<Rooms::element_type>();
    in.rooms->reserve(most);  // operands point into it
  }
  Room& room = in.rooms->emplace_back();
  fill(room.data());
  in.types.push_back({dtype, number});
  in.operands.push_back({room.data(), dtype, {}, {}});
}

Inputs gather_inputs(const Call& call, DType compute) {
  Inputs in;
  auto params = body_params(call.op);
  const size_t most = params.size();
  Device device = call.types[0].device;
  for (int p : params) {
    const Arg& a = call.args[static_cast<size_t>(p)];
    if (a.tag != Tag::tensor) {
      DType d = number_dtype(call.op, p, compute);
      add_uniform(in, most, d, true, [&](std::byte* room) { store_number(a, d, room); });
      continue;
    }
    Tensor t = a.tensor();
    if (t.device() != device) {  // a 0-d tensor of the host among tensors of another device
      add_uniform(in, most, t.dtype(), false, [&](std::byte* room) { t.item_bytes(room); });
      continue;
    }
    in.types.push_back({t.dtype(), false});
    in.operands.push_back(operand(t));
    in.tensors.push_back(std::move(t));
  }
  return in;
}

void submit_program(const Call& call, const ElementTypes& types, Inputs in, Engine engine,
                    Outputs& outputs) {
  ElementwiseLaunch launch;
  launch.program = &program_of(call.op, types, in.types);
  if (call.op.kind == Kind::random) launch.random = take_random_calls(1);
  launch.engine = engine;
  launch.op = call.op.name();
  launch.site = here();
  for (size_t k = 0; k < call.types.size(); ++k) {
    outputs.push_back(result_of(call, k));
    launch.outs.push_back(operand(outputs.back()));
  }
  for (const Operand& o : in.operands) launch.ins.push_back(broadcast_to(o, launch.outs[0].shape));
  submit(call.types[0].device, in.tensors, outputs, [launch = std::move(launch), rooms = in.rooms] {
    if (launch.program->copies())
      copy_elements(launch.ins[0], launch.outs[0]);
    else
      run_elementwise(launch);
  });
}

/// Elementwise definitions meet in a dtype; create and random definitions are told theirs.
ElementTypes types_of(const Call& call) {
  if (call.op.kind == Kind::elementwise) return element_types(call.op, call.args);
  DType d = call.types[0].dtype;
  return {compute_type(d), d, {d}};
}

void run_bodies(const Call& call, Engine engine, Outputs& outputs) {
  ElementTypes types = types_of(call);
  submit_program(call, types, gather_inputs(call, types.compute), engine, outputs);
}

}  // namespace

void run_body(const Call& call, Outputs& outputs) { run_bodies(call, Engine::simd, outputs); }
void run_body_by_reference(const Call& call, Outputs& outputs) {
  run_bodies(call, Engine::reference, outputs);
}

}  // namespace lathe::own
