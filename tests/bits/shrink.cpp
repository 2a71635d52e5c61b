#include "tests/bits/shrink.h"

#include <algorithm>

#include "core/dispatch/call.h"
#include "core/tensor/random.h"

namespace lathe::bits_test {
namespace {

void mark_used(const std::vector<Step>& steps, std::vector<bool>& used) {
  for (const Step& s : steps) {
    for (const Operand& o : s.operands)
      if (o.id != kCarried) used[static_cast<size_t>(o.id)] = true;
    mark_used(s.first, used);
    mark_used(s.second, used);
  }
}

/// Inputs that nothing reads go.
void drop_unused_inputs(Program& p) {
  std::vector<bool> used(static_cast<size_t>(p.ids));
  mark_used(p.steps, used);
  for (int id : p.outputs) used[static_cast<size_t>(id)] = true;
  std::erase_if(p.inputs, [&](const Input& i) { return !used[static_cast<size_t>(i.id)]; });
}

Program without_step(const Program& p, size_t index) {
  Program out = p;
  Pool values;
  GradMode off(false);
  set_random_state({p.seed, 0});
  Program plain = p;
  plain.gradient = Gradient::none;
  run(plain, inputs_of(plain), &values);
  const Step& gone = p.steps[index];
  for (int id : gone.out) {
    Input in;
    in.id = id;
    in.value = values[static_cast<size_t>(id)];
    out.inputs.push_back(in);
  }
  out.steps.erase(out.steps.begin() + static_cast<ptrdiff_t>(index));
  auto made = [&](int id) {
    return std::find(gone.out.begin(), gone.out.end(), id) != gone.out.end();
  };
  if (std::any_of(out.outputs.begin(), out.outputs.end(), [&](int id) { return !made(id); }))
    std::erase_if(out.outputs, made);
  drop_unused_inputs(out);
  return out;
}

class Shrinker {
 public:
  Shrinker(Program p, Difference d, const Thorough& how)
      : p_(std::move(p)), d_(std::move(d)), how_(how) {
    how_.count = false;
  }

  Shrunk run() {
    for (bool smaller = true; smaller && tries_ < 400;)
      smaller = drop_gradient() || drop_outputs() || drop_steps() || drop_layouts();
    return {std::move(p_), std::move(d_)};
  }

 private:
  /// "program" of "program, strips": a smaller one that fails elsewhere is another story.
  static std::string_view sort_of(const Difference& d) {
    return std::string_view(d.mode).substr(0, d.mode.find(','));
  }
  /// Keeps the candidate if it differs in the same sort of mode.
  bool keep(const Program& candidate) {
    ++tries_;
    std::optional<Difference> d;
    try {
      d = compare(candidate, how_);
    } catch (const std::exception&) {
      return false;
    }
    if (!d || sort_of(*d) != sort_of(d_)) return false;
    p_ = candidate;
    d_ = *d;
    return true;
  }
  template <class F>
  bool attempt(F make) {
    try {
      return keep(make());
    } catch (const std::exception&) {
      return false;
    }
  }

  bool drop_gradient() {
    if (p_.gradient == Gradient::none) return false;
    return attempt([&] {
      Program c = p_;
      c.gradient = Gradient::none;
      for (Input& i : c.inputs) i.tracked = false;
      return c;
    });
  }
  bool drop_outputs() {
    bool any = false;
    for (size_t k = p_.outputs.size(); k-- > 0 && p_.outputs.size() > 1;)
      any |= attempt([&] {
        Program c = p_;
        c.outputs.erase(c.outputs.begin() + static_cast<ptrdiff_t>(k));
        drop_unused_inputs(c);
        return c;
      });
    return any;
  }
  bool drop_steps() {
    bool any = false;
    for (size_t k = p_.steps.size(); k-- > 0;)
      if (k < p_.steps.size() && p_.steps.size() > 1)
        any |= attempt([&] { return without_step(p_, k); });
    return any;
  }
  bool drop_layouts() {
    bool any = false;
    for (size_t k = 0; k < p_.inputs.size(); ++k)
      if (p_.inputs[k].layout != Layout::row_major)
        any |= attempt([&] {
          Program c = p_;
          c.inputs[k].layout = Layout::row_major;
          return c;
        });
    return any;
  }

  Program p_;
  Difference d_;
  Thorough how_;
  int tries_ = 0;
};

}  // namespace

Shrunk shrink(Program program, Difference difference, const Thorough& how) {
  return Shrinker(std::move(program), std::move(difference), how).run();
}

}  // namespace lathe::bits_test
