// Files that are written beside the one they are to become, and renamed to it when they are whole:
// <target>.writing-<process>-<number>. A process that is killed leaves one behind; the next one
// that writes into the folder removes it.
//
// A writer holds a lock (flock) on its file, which the system takes back when the process ends,
// however it ends. So a file is abandoned if nobody holds its lock and its process is gone, or is
// another one of that number by now: then it is old. A live writer, also one of another machine or
// container that shares the folder, is not disturbed.
#pragma once

#include <string>

namespace lathe {

/// A path beside `target` that no other writer uses, for a file to be made there (exclusively) and
/// passed to lock_while_written(). The first call for a folder removes what was abandoned in it.
std::string temporary_path(const std::string& target);

/// Marks the open file as being written until it is closed or this process ends.
void lock_while_written(int descriptor);

/// Removes the file at `path`, which process `writer` made, if it is abandoned. Whether it did.
bool remove_if_abandoned(const std::string& path, int64_t writer);

}  // namespace lathe
