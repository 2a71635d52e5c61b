// Products against windows, task by task.
#include <algorithm>

#include "kernels/own/product_ways.h"
#include "kernels/runtime/pool.h"
#include "kernels/runtime/scratch.h"

namespace lathe::own {
namespace {

/// What is staged, and the left side if it is copied.
int64_t line_elements(const Product& p) {
  const int64_t weights = p.left.plain() ? 0 : p.lines->together() * p.rows * p.depth;
  return static_cast<int64_t>(p.lines->staged_elements()) + weights;
}

/// The products of a run that are computed together, task by task.
template <class T>
class LinesTask {
 public:
  LinesTask(const ProductRun<T>& run, T* room)
      : run_(run),
        p_(run.p),
        lines_(*p_.lines),
        room_{room, 0, {}},
        weights_(room + lines_.staged_elements()),
        sums_{run.tiles,        nullptr,          run.right, {},      nullptr,
              p_.left.x_step(), p_.left.k_step(), 0,         p_.cols, 0,
              p_.rows,          p_.block,         1} {
    if (lines_.beside() > 1) axis_ = p_.repeats.back();
    sums_.out_step = axis_.out;
    sums_.left_step = axis_.left;
    if (p_.left.plain()) return;
    sums_.x_step = 1;
    sums_.k_step = p_.rows;
    sums_.left_step = p_.rows * p_.depth;
  }

  void run(int64_t group, int64_t part) {
    if (group != group_) begin(group);
    if (part != known_part_) part_ = lines_.part(known_part_ = part);
    lines_.run(sums_, part_, room_);
    if (run_.epilogue) finish();
  }

 private:
  void begin(int64_t group) {
    group_ = group;
    const int64_t first = group % lines_.groups() * lines_.together();
    ProductPlace at = place_of(p_, group / lines_.groups() * lines_.beside() + first);
    sums_.count = std::min(lines_.together(), lines_.beside() - first);
    sums_.out = run_.out + at.out;
    sums_.at = std::move(at.right);
    sums_.left = p_.left.plain() ? run_.left + at.left.offset : weights_;
    const int rows = static_cast<int>(p_.rows);
    for (int64_t i = 0; !p_.left.plain() && i < sums_.count; ++i, at.left.offset += axis_.left)
      p_.left.pack(run_.tiles, run_.left, at.left, 0, rows, rows, 0, p_.depth,
                   weights_ + i * sums_.left_step);
  }

  void finish() {
    const int64_t out = sums_.out - run_.out, all = p_.rows * p_.cols;
    if (lines_.parts() == 1 && (sums_.count == 1 || sums_.out_step == all))
      return run_.epilogue(out, sums_.count * all);
    const bool whole = part_.columns == part_.apart;  // lines follow each other at once
    const int64_t stretches = whole ? 1 : part_.lines;
    const int64_t columns = part_.lines * part_.columns / stretches;
    for (int64_t i = 0; i < sums_.count; ++i)
      for (int64_t l = 0; l < stretches; ++l)
        run_.epilogue(
            {out + i * sums_.out_step + part_.first + l * part_.apart, columns, p_.rows, p_.cols});
  }

  const ProductRun<T>& run_;
  const Product& p_;
  const WindowLines& lines_;
  WindowLines::Room<T> room_;
  T* weights_;
  WindowLines::Sums<T> sums_;
  Product::Repeat axis_{};  // of the products beside each other
  WindowLines::Part part_{};
  int64_t group_ = -1, known_part_ = -1;
};

}  // namespace

int64_t window_elements(const Product& p) {
  return p.taps ? static_cast<int64_t>(p.taps->elements(p.block)) : line_elements(p);
}

template <class T>
void run_window_lines(const ProductRun<T>& run) {
  const Product& p = run.p;
  const WindowLines& lines = *p.lines;
  const int64_t parts = lines.parts(), groups = p.products / lines.beside() * lines.groups();
  // Staging a place and writing it take as long as so many multiplications: of one channel, most.
  constexpr int64_t kStaging = 32;
  const int64_t work = p.cols * (p.depth * p.rows + kStaging) * lines.together() / parts;
  parallel_for(groups * parts, tasks_together(work), [&](int64_t begin, int64_t end) {
    Scratch room(static_cast<size_t>(line_elements(p)) * sizeof(T));
    LinesTask<T> task(run, room.as<T>());
    Pace pace;
    for (int64_t t = begin; t < end; ++t) {
      pace.after(work / 4);
      task.run(t / parts, t % parts);
    }
  });
}

template <class T>
void run_window_taps(const ProductRun<T>& run) {
  const Product& p = run.p;
  const WindowTaps& taps = *p.taps;
  const int64_t beside = taps.products(), tasks = taps.tasks();
  const int64_t work = p.rows * p.cols * p.depth * beside / tasks;
  parallel_for(p.products / beside * tasks, tasks_together(work), [&](int64_t begin, int64_t end) {
    Scratch room(taps.elements(p.block) * sizeof(T));
    const WindowTaps::Sums<T> sums{run.tiles, p.left, run.left, run.right, run.out,
                                   p.rows,    p.cols, p.depth,  p.block,   run.epilogue};
    for (int64_t t = begin; t < end; ++t) {
      const ProductPlace first = place_of(p, t / tasks * beside);
      WindowTaps::At at{first.left, first.right, first.out};
      if (beside > 1) at.right_step = p.repeats.back().right, at.out_step = p.repeats.back().out;
      taps.run(sums, at, t % tasks, room.as<T>());
    }
  });
}

#define LATHE_WINDOW_WAYS_OF(T)                         \
  template void run_window_lines(const ProductRun<T>&); \
  template void run_window_taps(const ProductRun<T>&);
LATHE_WINDOW_WAYS_OF(float)
LATHE_WINDOW_WAYS_OF(double)
LATHE_WINDOW_WAYS_OF(uint32_t)
LATHE_WINDOW_WAYS_OF(uint64_t)
#undef LATHE_WINDOW_WAYS_OF

}  // namespace lathe::own
