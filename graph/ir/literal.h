// How literals are written: numbers so that reading them gives the same bits.
#pragma once

#include "core/op/args.h"

namespace lathe::ir {

/// 'it\'s\n', in single quotes.
std::string quoted(std::string_view text);
std::string literal_text(const Arg& literal);

/// Tensors of up to this many elements are written out.
inline constexpr int64_t kInlineElements = 8;
/// On the host, small, and of a dtype whose elements can be written?
bool writes_inline(const Tensor& t);
/// "[1.0, 2.0]", row-major.
std::string elements_text(const Tensor& t);

/// A contiguous copy on the host in row-major order; the tensor itself if it is one already.
Tensor packed(const Tensor& t);

}  // namespace lathe::ir
