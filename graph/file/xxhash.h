// xxHash64, after Yann Collet's specification: fast enough to check weights while they are read,
// and it finds every single flipped byte. It keeps accidents out, not attackers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lathe::ir {

uint64_t xxhash64(const void* data, size_t bytes, uint64_t seed = 0);
inline uint64_t xxhash64(std::string_view text) { return xxhash64(text.data(), text.size()); }

}  // namespace lathe::ir
