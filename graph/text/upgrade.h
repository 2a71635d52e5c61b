// Graph text of older versions: ops that have another name or other parameters by now. The parser
// asks here before it looks an op up, so files and texts of then read as what they mean today.
// Printing knows today's names only.
#pragma once

#include "graph/ir/arguments.h"

namespace lathe::ir {

struct Upgrade {
  std::string_view op;  // as the text has it
  int version;
  std::string_view to;
  /// Parameters in the order they had, "then=now" where the name is another.
  std::string_view params;
};

/// Null: an op of this name and version is looked up as it is.
const Upgrade* find_upgrade(std::string_view op, int version);
/// The arguments by the names that they have now. TypeError for one that there never was.
void upgrade_arguments(const Upgrade& upgrade, std::vector<Given>& given);

}  // namespace lathe::ir
