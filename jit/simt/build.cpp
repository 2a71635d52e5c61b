#include "jit/simt/build.h"

namespace lathe::jit::simt {

void Builder::begin_phase(Ix work) {
  // Steps of the phase before are not written to any more: they may move.
  program.phases.push_back({std::move(work), {}});
  at_ = {&program.phases.back().body};
}

int Builder::reg(DType dtype) {
  program.registers.push_back(dtype);
  return static_cast<int>(program.registers.size()) - 1;
}

Builder::Regs Builder::regs(DType dtype) {
  Regs all;
  for (size_t part = 0; part < parts_of(dtype); ++part) all.push_back(reg(real_type(dtype)));
  return all;
}

int Builder::memory(Memory memory) {
  program.memories.push_back(std::move(memory));
  return static_cast<int>(program.memories.size()) - 1;
}

int Builder::function(const ScalarFunction& f) {
  program.functions.push_back(f);
  return static_cast<int>(program.functions.size()) - 1;
}

Ix Builder::number(Int e) {
  if (identical(e, Int(0)) || identical(e, Int(1))) return e.value();
  size_t k = 0;
  while (k < program.numbers.size() && !identical(program.numbers[k], e)) ++k;
  if (k == program.numbers.size()) program.numbers.push_back(e);
  return {IxOp::number, static_cast<int64_t>(k)};
}

Ix Builder::let(Ix value) {
  const int r = reg(DType::i64);
  let(r, std::move(value));
  return value_of(r);
}

Builder::Regs Builder::load(int memory, Ix index) {
  Regs to = regs(program.memories[static_cast<size_t>(memory)].dtype);
  add(Load{to, memory, std::move(index)});
  return to;
}

Builder::Regs Builder::call(int f, Regs inputs, Ix position) {
  Regs to;
  for (DType d : program.functions[static_cast<size_t>(f)].output_types)
    for (int r : regs(d)) to.push_back(r);
  add(Call{to, f, std::move(inputs), std::move(position)});
  return to;
}

Steps Builder::inside(const Inside& body) {
  Steps steps;
  at_.push_back(&steps);
  body();
  at_.pop_back();
  return steps;
}

void Builder::loop(Ix first, Ix last, Ix step, const std::function<void(const Ix&)>& body) {
  const int i = reg(DType::i64);
  Steps steps = inside([&] { body(value_of(i)); });
  add(Loop{i, std::move(first), std::move(last), std::move(step), std::move(steps)});
}

void Builder::when(Ix a, Compare how, Ix b, const Inside& then, const Inside& otherwise) {
  Steps yes = inside(then), no;
  if (otherwise != nullptr) no = inside(otherwise);
  add(When{std::move(a), how, std::move(b), std::move(yes), std::move(no)});
}

}  // namespace lathe::jit::simt
