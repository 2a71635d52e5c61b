// Bodies over whole tensors: elementwise, create and random rows, and conversion.
//
// The index space is collapsed to as few axes as the operands allow and walked in lines along one
// of them; lines, or pieces of a long one, are the units of parallel work. Which elements meet, and
// every bit of the result, does not depend on how the space was walked.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/random.h"
#include "kernels/launch.h"
#include "kernels/own/kinds.h"
#include "kernels/own/program.h"
#include "kernels/pool.h"

namespace lathe::own {
namespace {

constexpr int64_t kShortLine = 48;

struct Pass {
  const Program* program;
  absl::InlinedVector<Operand, 2> outs;
  absl::InlinedVector<Operand, 4> ins;  // broadcast to the outputs' shape
  RandomState random;
  Engine engine = Engine::strips;
  std::string op;
  Site site;
};

[[noreturn]] void check_failed(const Pass& pass, uint64_t slot) {
  int64_t linear = static_cast<int64_t>(slot >> 8);
  std::string at;
  const Sizes& shape = pass.outs[0].shape;
  for (size_t i = shape.size(); i-- > 0;) {
    at = absl::StrCat(linear % shape[i], at.empty() ? "" : ", ", at);
    linear /= shape[i];
  }
  throw ValueError({.op = pass.op,
                    .problem = std::string(check_message(static_cast<uint32_t>(slot & 0xff))),
                    .got = absl::StrCat("at element [", at, "]"),
                    .site = pass.site});
}

/// Exchanges the last axis with the longest, where lines along the last would be too short to pay.
void lengthen(Walk& w) {
  size_t last = w.shape.size() - 1;
  if (w.shape.size() < 2 || w.shape[last] >= kShortLine) return;
  size_t best = last;
  for (size_t i = 0; i < last; ++i)
    if (w.shape[i] > w.shape[best]) best = i;
  if (w.shape[best] < 2 * w.shape[last]) return;
  std::swap(w.shape[best], w.shape[last]);
  for (Sizes& s : w.strides) std::swap(s[best], s[last]);
}

Walk walk_of(const Pass& pass) {
  absl::InlinedVector<const Operand*, 6> all;
  for (const Operand& o : pass.outs) all.push_back(&o);
  for (const Operand& o : pass.ins) all.push_back(&o);
  Walk w;
  if (pass.program->uses_index()) {
    w.shape = pass.outs[0].shape;
    for (const Operand* o : all) w.strides.push_back(o->strides);
  } else {
    w = make_walk(all, pass.outs[0].shape, !pass.program->uses_position());
  }
  if (w.shape.empty()) {
    w.shape.push_back(1);
    for (Sizes& s : w.strides) s.push_back(0);
  }
  if (!pass.program->uses_index() && !pass.program->uses_position()) lengthen(w);
  return w;
}

void run_pass(const Pass& pass) {
  int64_t n = pass.outs[0].numel();
  if (n == 0) return;
  const Program& program = *pass.program;
  Walk w = walk_of(pass);
  size_t last = w.shape.size() - 1, outs = pass.outs.size(), operands = w.strides.size();
  int64_t length = w.shape[last], lines = n / length;
  int64_t grain = std::max<int64_t>(2048, (int64_t{1} << 19) / (program.cost() * 8) / 1024 * 1024);
  int64_t piece = std::min(length, grain), pieces = (length + piece - 1) / piece;
  CheckSlot checks;
  absl::InlinedVector<LineOperand, 6> first(operands);
  absl::InlinedVector<int64_t, 6> bytes(operands);
  for (size_t k = 0; k < operands; ++k) {
    const Operand& o = k < outs ? pass.outs[k] : pass.ins[k - outs];
    first[k] = {o.data, w.strides[k][last]};
    bytes[k] = static_cast<int64_t>(size_of(o.dtype));
  }
  parallel_for(lines * pieces, std::max<int64_t>(1, grain / piece),
               [&](int64_t begin, int64_t end) {
                 absl::InlinedVector<LineOperand, 6> at = first;
                 absl::InlinedVector<int64_t, 6> offsets(operands), index;
                 for (int64_t t = begin; t < end; ++t) {
                   int64_t line = t / pieces, start = t % pieces * piece;
                   walk_offsets(w, static_cast<int>(last), line, absl::MakeSpan(offsets));
                   for (size_t k = 0; k < operands; ++k)
                     at[k].data = first[k].data + (offsets[k] + start * at[k].stride) * bytes[k];
                   LineContext context;
                   context.seed = pass.random.seed;
                   context.call = pass.random.call;
                   context.linear = line * length + start;
                   context.checks = &checks;
                   if (program.uses_index()) {
                     index.resize(w.shape.size());
                     int64_t rest = line;
                     for (size_t axis = last; axis-- > 0;) {
                       index[axis] = rest % w.shape[axis];
                       rest /= w.shape[axis];
                     }
                     index[last] = start;
                     context.index = index;
                     context.axis = static_cast<int>(last);
                   }
                   auto all = absl::MakeConstSpan(at);
                   program.run(all.subspan(outs), all.subspan(0, outs),
                               std::min(piece, length - start), context, pass.engine);
                 }
               });
  if (uint64_t slot = checks.lowest.load(); slot != UINT64_MAX) check_failed(pass, slot);
}

/// Elements that travel with a pass rather than in a tensor: numbers, and 0-d tensors of the host.
using Room = std::array<std::byte, 16>;
using Rooms = std::shared_ptr<std::vector<Room>>;

struct Inputs {
  absl::InlinedVector<BodyInput, 4> types;
  absl::InlinedVector<Operand, 4> operands;
  Tensors tensors;
  Rooms rooms;
};

void add_uniform(Inputs& in, DType dtype, bool number, absl::FunctionRef<void(std::byte*)> fill) {
  Room& room = in.rooms->emplace_back();
  fill(room.data());
  in.types.push_back({dtype, number});
  in.operands.push_back({room.data(), dtype, {}, {}});
}

Inputs gather_inputs(const Call& call, DType compute) {
  Inputs in;
  auto params = body_params(call.op);
  in.rooms = std::make_shared<std::vector<Room>>();
  in.rooms->reserve(params.size());  // operands point into it
  Device device = call.types[0].device;
  for (int p : params) {
    const Arg& a = call.args[static_cast<size_t>(p)];
    if (a.tag != Tag::tensor) {
      DType d = input_dtype(call.op, p, compute);
      add_uniform(in, d, true, [&](std::byte* room) { store_number(a, d, room); });
      continue;
    }
    Tensor t = a.tensor();
    if (t.device() != device) {  // a 0-d tensor of the host among tensors of another device
      add_uniform(in, t.dtype(), false, [&](std::byte* room) {
        uint64_t bits = t.item_bits();
        std::copy_n(reinterpret_cast<const std::byte*>(&bits), sizeof bits, room);
      });
      continue;
    }
    in.types.push_back({t.dtype(), false});
    in.operands.push_back(operand(t));
    in.tensors.push_back(std::move(t));
  }
  return in;
}

void launch(const Call& call, const ElementTypes& types, Inputs in, Engine engine,
            Outputs& outputs) {
  Pass pass;
  pass.program = &program_of(call.op, types, in.types);
  if (call.op.kind == Kind::random) pass.random = take_random_calls(1);
  pass.engine = engine;
  pass.op = call.op.name();
  pass.site = here();
  for (size_t k = 0; k < call.types.size(); ++k) {
    outputs.push_back(k == 0 && call.into != nullptr ? *call.into : empty(call.types[k]));
    pass.outs.push_back(operand(outputs.back()));
  }
  for (const Operand& o : in.operands) pass.ins.push_back(broadcast_to(o, pass.outs[0].shape));
  submit(call.types[0].device, in.tensors, outputs, [pass = std::move(pass), rooms = in.rooms] {
    if (pass.program->copies())
      copy_elements(pass.ins[0], pass.outs[0]);
    else
      run_pass(pass);
  });
}

/// Elementwise rows meet in a dtype; create and random rows are told theirs.
ElementTypes types_of(const Call& call) {
  if (call.op.kind == Kind::elementwise) return element_types(call.op, call.args);
  DType d = call.types[0].dtype;
  return {compute_type(d), d, {d}};
}

void run_bodies(const Call& call, Engine engine, Outputs& outputs) {
  ElementTypes types = types_of(call);
  launch(call, types, gather_inputs(call, types.compute), engine, outputs);
}

}  // namespace

void run_body(const Call& call, Outputs& outputs) { run_bodies(call, Engine::strips, outputs); }
void run_body_by_reference(const Call& call, Outputs& outputs) {
  run_bodies(call, Engine::reference, outputs);
}

void convert(const Operand& from, const Operand& to) {
  Pass pass;
  pass.program = &conversion(from.dtype, to.dtype);
  pass.outs.push_back(to);
  pass.ins.push_back(from);
  if (pass.program->copies())
    copy_elements(from, to);
  else
    run_pass(pass);
}

}  // namespace lathe::own
