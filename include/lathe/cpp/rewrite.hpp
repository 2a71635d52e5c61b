// Rules of the program's own for the rewriter.
#pragma once

#include <cstdint>
#include <string>

#include "lathe/cpp/error.hpp"

namespace lathe {
inline namespace v1 {

/// A rule that rewrite() added. It counts until remove().
class Rewrite {
 public:
  explicit Rewrite(int64_t id) : id_(id) {}
  /// ValueError if it was removed before.
  void remove() const { detail::check(lathe_rewrite_remove(id_)); }

 private:
  int64_t id_;
};

/// In what is captured or loaded from now on, `replacement` takes the place of `pattern`:
/// rewrite("log(exp(x))", "x", "rank(x) >= 2 and floating(x)", false). ValueError or NameError,
/// with the column, for a text that is wrong.
inline Rewrite rewrite(const std::string& pattern, const std::string& replacement,
                       const std::string& where = "", bool exact = true) {
  int64_t id = 0;
  detail::check(
      lathe_rewrite_add(pattern.c_str(), replacement.c_str(), where.c_str(), exact ? 1 : 0, &id));
  return Rewrite(id);
}

}  // namespace v1
}  // namespace lathe
