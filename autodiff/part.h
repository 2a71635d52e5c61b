// Parts of a trace that are recorded as one (an if, a loop), to the tape that goes through them.
#pragma once

#include "autodiff/tape.h"

namespace lathe {

/// The derivative of the part that the trace under way tells the tape of: recorded behind what is
/// there when a backward asks for it, as differentiate() does with a whole graph. The part may give
/// more for it than it did. A derivative of higher order takes the part and what was recorded for
/// its derivative as one part more; it agrees with eager's to rounding.
///
/// TraceError when it is asked for by a function that calls itself, and where data decides whether
/// anything arrives at an input.
OwnDerivativeRef derivative_of_part(std::string_view name);

}  // namespace lathe
