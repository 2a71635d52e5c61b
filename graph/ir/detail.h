// How much a text tells: of reports, and of what runs.
#pragma once

#include <cstdint>

namespace lathe::ir {

enum class Detail : uint8_t {
  brief,    // a line for each thing that did or does something
  verbose,  // and all that is known of it
};

}  // namespace lathe::ir
