// Our contractions as a table entry.
#pragma once

#include "kernels/table/table.h"

namespace lathe::own {

Verdict product_accepts(const Entry& entry, const Query& query);
PreparedRef product_prepare(const Entry& entry, const Problem& problem);
void product_run(const Entry& entry, const Prepared& prepared, const Launch& launch);
Room product_room(const Entry& entry, const Prepared& prepared, std::array<bool, 2> lasting);
PackedRef product_pack(const Entry& entry, const Prepared& prepared, int operand,
                       const std::byte* data, const PackedRef& known);

}  // namespace lathe::own
