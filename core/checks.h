// What is said beside check_message (core/op.h) when a check in a body fails.
#pragma once

#include <cstdint>
#include <string_view>

namespace lathe {

std::string_view check_expected(uint32_t code);
std::string_view check_advice(uint32_t code);

}  // namespace lathe
