// The error of a program whose data are not as it presumes.
#pragma once

#include "core/base/error.h"

namespace lathe {

/// A size that only running tells is not as the program presumes. Whoever has the function that it
/// was made of runs that.
class PresumptionError : public ShapeError {
 public:
  using ErrorOf::ErrorOf;
};

}  // namespace lathe
