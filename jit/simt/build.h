// Writes thread programs (program.h) statement by statement.
#pragma once

#include <functional>

#include "jit/simt/program.h"

namespace lathe::jit::simt {

class Builder {
 public:
  using Inside = std::function<void()>;
  using Regs = std::vector<int>;

  Program program;

  /// What follows goes into a phase of its own.
  void begin_phase(Ix work);

  int reg(DType dtype);
  /// A register for each part of an element.
  Regs regs(DType dtype);
  int memory(Memory memory);
  int function(const ScalarFunction& f);
  /// A number of the kernel: 0 and 1 as they are, others as the launch says.
  Ix number(Int e);

  /// A register of this value from here on.
  Ix let(Ix value);
  void let(int reg, Ix value) { add(Let{reg, std::move(value)}); }
  void set(int reg, uint64_t bits) { add(Set{reg, bits}); }
  void copy(int reg, int from) { add(Copy{reg, from}); }
  void fetch(int reg, int uniform) { add(Fetch{reg, uniform}); }
  Regs load(int memory, Ix index);
  void store(int memory, Ix index, Regs regs) { add(Store{memory, std::move(index), regs}); }
  /// Of the function's results, by parts; into `to`, or into registers of their own.
  Regs call(int f, Regs inputs, Ix position = 0);
  void call(Regs to, int f, Regs inputs) { add(Call{std::move(to), f, std::move(inputs)}); }
  void shuffle(int reg, int from, int distance) { add(Shuffle{reg, from, distance}); }
  void barrier() { add(Barrier{}); }
  void loop(Ix first, Ix last, Ix step, const std::function<void(const Ix&)>& body);
  void when(Ix a, Compare how, Ix b, const Inside& then, const Inside& otherwise = nullptr);
  /// By thread 0 alone.
  void first_thread(const Inside& then) { when(this_thread(), Compare::equal, 0, then); }

 private:
  void add(decltype(Step::node) node) { at_.back()->push_back({std::move(node)}); }
  Steps inside(const Inside& body);

  std::vector<Steps*> at_;
};

}  // namespace lathe::jit::simt
