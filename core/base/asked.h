// The op that the user named, while its expansion runs other ops: an error in one of those is
// reported under the name in the user's program (softmax, not the maximum inside it).
#pragma once

#include <string>

namespace lathe {

/// Names the outermost composite of this thread; inner ones change nothing.
class AskedScope {
 public:
  explicit AskedScope(const std::string& op);
  ~AskedScope();
  AskedScope(const AskedScope&) = delete;

 private:
  const std::string* previous_;
};

}  // namespace lathe
