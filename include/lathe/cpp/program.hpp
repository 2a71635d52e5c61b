// Programs from files.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lathe/cpp/ops.hpp"

namespace lathe {
inline namespace v1 {

/// A program that lathe.save wrote. Immutable: copies share it, and any number of threads may call
/// it at once.
class Program {
 public:
  struct Slot {
    std::string name;
    DType dtype;
    Sizes sizes;  // -1: any size
  };
  explicit Program(lathe_program* adopted) : p_(adopted, lathe_program_release) {}

  /// The results for these inputs. Gradients go through it by inputs that require grad. TypeError
  /// or ShapeError for inputs that it was not saved for.
  Tensors run(const Tensors& inputs) const {
    auto in = detail::handles(inputs);
    return detail::results(
        [&](lathe_tensor** out, size_t room, size_t* count) {
          return lathe_program_run(p_.get(), in.data(), in.size(), out, room, count);
        },
        lathe_program_output_count(p_.get()));
  }
  /// For programs of one result, which most are.
  template <class... T>
  Tensor operator()(const Tensor& first, const T&... rest) const {
    Tensors out = run({first, rest...});
    if (out.size() != 1)
      throw Error(LATHE_VALUE_ERROR, "the program has several results: use run()");
    return std::move(out[0]);
  }
  std::vector<Slot> inputs() const {
    return slots(lathe_program_input_count(p_.get()), lathe_program_input);
  }
  std::vector<Slot> outputs() const {
    return slots(lathe_program_output_count(p_.get()), lathe_program_output);
  }
  /// Generates all machine code now; what could not be, and why.
  std::string compile() const {
    char* why = nullptr;
    detail::check(lathe_program_compile(p_.get(), &why));
    return detail::taken(why);
  }
  void save(const std::string& path) const {
    detail::check(lathe_program_save(p_.get(), path.c_str()));
  }
  /// A line a step: what it computes, what runs it, where it comes from. Verbose: its parts, its
  /// bits, figures, and why not another.
  std::string explain(bool verbose = false) const {
    return text(verbose ? LATHE_VERBOSE : LATHE_EXPLAIN);
  }
  std::string graph() const { return text(LATHE_GRAPH); }
  std::string optimised() const { return text(LATHE_OPTIMISED); }
  /// The kernel chosen for each node, in the order in which they run.
  struct Kernel {
    std::string op, kernel, line;
  };
  std::vector<Kernel> kernels() const {
    std::vector<Kernel> out;
    std::istringstream lines(text(LATHE_KERNELS));
    for (Kernel k; std::getline(lines, k.op, '\t');) {
      std::getline(lines, k.kernel, '\t');
      std::getline(lines, k.line);
      out.push_back(k);
    }
    return out;
  }
  size_t peak_bytes() const { return lathe_program_peak_bytes(p_.get()); }

 private:
  template <class F>
  std::vector<Slot> slots(size_t count, F ask) const {
    std::vector<Slot> out;
    for (size_t i = 0; i < count; ++i) {
      lathe_slot s = {};
      s.size = sizeof s;
      detail::check(ask(p_.get(), i, &s));
      out.push_back({s.name, static_cast<DType>(s.dtype),
                     s.rank < 0 ? Sizes() : Sizes(s.sizes, s.sizes + s.rank)});
    }
    return out;
  }
  std::string text(lathe_view view) const {
    char* out = nullptr;
    detail::check(lathe_program_text(p_.get(), view, &out));
    return detail::taken(out);
  }
  std::shared_ptr<lathe_program> p_;
};

/// FileError for what is damaged, cut short or no program; nothing in a file is ever run.
inline Program load(const std::string& path) {
  check_version();
  lathe_program* p = nullptr;
  detail::check(lathe_program_load(path.c_str(), &p));
  return Program(p);
}

/// The program of a text of graphs, as Program::graph() gives it or written by hand: of its first
/// function, or of the one named. ValueError with line and column for what is no such text.
inline Program parse(const std::string& text, const std::string& function = {}) {
  check_version();
  lathe_program* p = nullptr;
  const char* of = function.empty() ? nullptr : function.c_str();
  detail::check(lathe_program_of_text(text.c_str(), of, "text", &p));
  return Program(p);
}

/// The results of a graph for these inputs; the graph is a program, or a text that is parsed first.
inline Tensors run(const Program& graph, const Tensors& inputs) { return graph.run(inputs); }
inline Tensors run(const std::string& graph, const Tensors& inputs) {
  return parse(graph).run(inputs);
}

}  // namespace v1
}  // namespace lathe
