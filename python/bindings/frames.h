// The user's line: the innermost Python frame that is not Lathe's own.
#pragma once

#include <string_view>

#include "core/base/site.h"
#include "python/bindings/python.h"

namespace lathe::py {

/// Makes core's here() answer with the running Python line. Frames of files under `package` are
/// Lathe's own and looked through.
void install_site_hook(std::string_view package);
/// The same answer, for those who ask directly.
Site user_line();
/// Lets go of the code whose lines it knows. A capture's own code holds what the capture read,
/// where no collector looks.
void forget_lines();

}  // namespace lathe::py
