// The `.lathe` file: a program and its weights.
//
//   offset 0   magic "LATHE\r\n\x1a", u32 format version, u32 number of sections, u64 file size,
//              u64 hash of the header and the section table (with this field zero)
//   then       one entry a section, 40 bytes: u32 kind, u32 index, u64 offset, u64 size, u64 hash,
//   u64 zero then       the sections, each at a multiple of 64 bytes, in the order of the table,
//   zeros between
//
// Everything is little-endian. Sections: `program` is the canonical text of the graph
// (graph/ir/text.h), with op versions in it, and has index 1 where its one result is given as a
// tuple of one; `tensors` describes constants, 64 bytes each: u32
// dtype, u32 rank (up to 5), i64 sizes[5], u64 section index, u64 zero; `weight` k is the elements
// of constant k, row-major, so a reader may map the file and use them where they lie; `note` is
// text for people (who wrote it, families of kernels).
//
// Hashes are xxHash64, ours: weights are gigabytes, and it reads them at the speed of memory while
// a CRC in portable code is ten times slower; against bit rot and cut files 64 bits are plenty.
// They say nothing about who wrote a file. A file is data: reading checks every number in it, never
// more than the file holds is allocated, an op this program does not have is refused by name, and
// nothing in it is ever run or opened.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/text.h"

namespace lathe::ir {

struct FileOptions {
  std::string note;  // kept in the file
  bool tuple_of_one = false;
};

/// The whole file as bytes.
std::string to_bytes(const Graph& graph, const FileOptions& options = {});
/// Writes a temporary file beside it, flushes it to the disk and renames it: `path` is either as it
/// was, or complete. FileError.
void write_file(const Graph& graph, const std::string& path, const FileOptions& options = {});

struct FileLimits {
  Limits text;
  size_t sections = size_t{1} << 20;
};
struct Loaded {
  Graph graph;
  std::string note;
  bool tuple_of_one = false;  // what it gives in Python is a tuple, though of one tensor
};
/// Checks everything and verifies the graph. FileError says what is wrong and where; NameError
/// names an op that is not known here.
Loaded from_bytes(std::string_view bytes, const FileLimits& limits = {},
                  std::string_view name = "file");
Loaded read_file(const std::string& path, const FileLimits& limits = {});

}  // namespace lathe::ir
