// Wires the parts together: the one place that knows all of them.
#pragma once

namespace lathe {

/// Makes ops runnable: installs the executor that runs them and the tape that records them. Every
/// front end calls it first; any thread, any number of times, and only the first call does
/// anything. It starts no thread and opens no plug-in: those wait for the first work that needs
/// them.
void initialise();

}  // namespace lathe
