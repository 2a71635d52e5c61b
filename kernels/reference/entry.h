// The reference as the last entry of the table: takes every contraction.
#pragma once

#include "kernels/table/table.h"

namespace lathe::reference {

Verdict contract_accepts(const Entry& entry, const Query& query);
PreparedRef contract_prepare(const Entry& entry, const Problem& problem);
void contract_run(const Entry& entry, const Prepared& prepared, const Launch& launch);

}  // namespace lathe::reference
