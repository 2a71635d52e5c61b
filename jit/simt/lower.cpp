#include "jit/simt/lower.h"

#include <absl/strings/str_cat.h>

#include "jit/simt/lowering.h"

namespace lathe::jit::simt {
namespace {

std::string refuses(const ScalarFunction& f, bool elements) {
  const auto& nodes = f.graph.nodes();
  if (std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return n.prim == Prim::index; }))
    return "a function asks for a position along an axis";
  if (!elements && reads_position(f)) return "rows with positions, random words or checks";
  return "";
}

std::string refuses(const For& loop) {
  for (const Statement& s : loop.body) {
    const auto* c = std::get_if<Compute>(&s.node);
    if (c == nullptr) return "a loop of anything but computations";
    for (const Access& a : c->stores)
      if (identical(a.map.along(static_cast<size_t>(loop.axis)), Int(0)))
        return "a loop whose rounds write one element";
  }
  return "";
}

class Elements : Lowering {
 public:
  using Lowering::Lowering;

  Program run(const Compute& c) {
    const Ix threads = shape_.threads, all = positions();
    b_.begin_phase(groups(all, shape_.threads));
    b_.loop(this_block() * threads + this_thread(), all, grid_size() * threads, [&](const Ix& p) {
      go_to(p);
      Regs inputs;
      for (const Operand& o : c.operands) read(o, inputs);
      const Regs results = b_.call(function(c.f), inputs, p);
      for (size_t k = 0; k < c.stores.size(); ++k)
        b_.store(c.stores[k].buf, index(c.stores[k].map), result(c.f, results, k));
    });
    return std::move(b_.program);
  }

 private:
  void read(const Operand& o, Regs& inputs) {
    if (const auto* a = std::get_if<Access>(&o)) {
      for (int r : b_.load(a->buf, index(a->map))) inputs.push_back(r);
      return;
    }
    if (const auto* pieces = std::get_if<Pieces>(&o)) return read(*pieces, inputs);
    const Uniform& u = std::get<Uniform>(o);
    inputs.push_back(b_.reg(u.dtype));
    b_.fetch(inputs.back(), u.slot);
  }

  /// Each piece that is there takes the place of those before.
  void read(const Pieces& pieces, Regs& inputs) {
    const int to = b_.reg(pieces.dtype);
    for (const Piece& piece : pieces.all)
      where_it_is(piece, 0, [&] {
        if (piece.from)
          b_.copy(to, b_.load(piece.from->buf, index(piece.from->map))[0]);
        else
          b_.set(to, piece.bits);
      });
    inputs.push_back(to);
  }

  /// At positions within its ranges from this one on.
  void where_it_is(const Piece& piece, size_t range, const Builder::Inside& then) {
    if (range == piece.within.size()) return then();
    const Range& r = piece.within[range];
    const Ix at = at_[static_cast<size_t>(r.axis)];
    b_.when(b_.number(r.first), Compare::less, at + 1, [&] {
      b_.when(at, Compare::less, b_.number(r.last), [&] { where_it_is(piece, range + 1, then); });
    });
  }
};

}  // namespace

std::string refuses(const Kernel& kernel) {
  if (kernel.axes.size() > static_cast<size_t>(kernel.parallel) + 1)
    return "more than one axis inside of the parallel ones";
  std::string error;
  for (const Statement& s : kernel.body)
    if (const auto* loop = std::get_if<For>(&s.node); loop != nullptr && error.empty())
      error = refuses(*loop);
  const bool elements = of_elements(kernel) != nullptr;
  each_statement(kernel.body, [&](const auto& statement) {
    for (const ScalarFunction* f : functions(statement))
      if (error.empty()) error = refuses(*f, elements);
  });
  return error;
}

Program threads_of(const Kernel& kernel, const Shape& shape) {
  if (const std::string why = refuses(kernel); !why.empty())
    throw UnsupportedError({.op = absl::StrCat("simt of kernel ", kernel.name),
                            .problem = "no thread program can be made of this kernel",
                            .got = why,
                            .expected = "what jit/simt/lower.h takes",
                            .next = "run the kernel by another engine"});
  if (const Compute* c = of_elements(kernel)) return Elements(kernel, shape).run(*c);
  return threads_of_rows(kernel, shape);
}

}  // namespace lathe::jit::simt
