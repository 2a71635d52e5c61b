// Codes of the `check`s in bodies besides kDivisionByZero (core/op/op.h), and what an error says
// when one fails besides check_message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/site.h"

namespace lathe {

inline constexpr int kNegativeExponent = 2;
inline constexpr int kIntegerOverflow = 3;
inline constexpr int kNoProbability = 4;
inline constexpr int kNegativeSpread = 5;
inline constexpr int kNegativeRate = 6;
inline constexpr int kNoWeight = 7;
inline constexpr int kTooFewWeights = 8;
inline constexpr int kScriptOverflow = 9;
inline constexpr int kScriptQuotient = 10;
inline constexpr int kNegativeVariance = 11;

/// What was expected, and what to do. A code that is none of ours, as a custom op may use, gives
/// general sentences.
std::string_view check_expected(uint32_t code);
std::string_view check_advice(uint32_t code);

/// Throws what a failed check is: OverflowError for kIntegerOverflow, ScriptError for what Python's
/// integers could and a script's cannot, else ValueError.
/// `index`: of the element, as "0, 3".
[[noreturn]] void throw_check(std::string op, uint32_t code, std::string_view index, Site site);

}  // namespace lathe
