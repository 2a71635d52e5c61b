// One stored element to and from C++ numbers: for item(), printing and filling in scalars. Kernels
// do not use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/scalar/dtype.h"

namespace lathe {

/// The real part, of complex types.
double element_double(DType dtype, const std::byte* at);
double element_imaginary(DType dtype, const std::byte* at);  // 0 for real types
/// Floats: towards zero, saturating, NaN gives 0: as the op `cast` does. Of uint64, the two's
/// complement of its bits: element_bits is the number.
int64_t element_int(DType dtype, const std::byte* at);
/// The element's own bits, zero-extended; of complex128, those of the real part.
uint64_t element_bits(DType dtype, const std::byte* at);

/// Converts as the op `cast` does: integers wrap, bool is `!= 0`.
void store_element(DType dtype, std::byte* at, double value);
void store_element(DType dtype, std::byte* at, int64_t value);
/// Both parts of a complex type.
void store_complex(DType dtype, std::byte* at, double real, double imaginary);

}  // namespace lathe
