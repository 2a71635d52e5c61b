// What the fuzzers call with their bytes, and ./dev test with the files of tests/fuzz/corpus.
//
// A target accepts any bytes. What they ask for may be refused by any of Lathe's errors but an
// internal one; what is accepted has to keep what Lathe promises. A Finding says which promise was
// broken; so does whatever else is thrown, and what a sanitizer, the limit of memory or the limit
// of time stops.
#pragma once

#include <absl/types/span.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "graph/file/file.h"
#include "graph/ir/ir.h"

namespace lathe::fuzz {

struct Finding : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Parser, verifier, printer and rewriter on the text of a graph: what is accepted prints as a text
/// that reads as the same graph, and so does what the rewriter makes of it.
void text(std::string_view input);
/// The loader of `.lathe` files: what is accepted is written as a file that reads as the same
/// graph.
void file(std::string_view input);
/// A program of a text or a file, run on data drawn from the input's hash: what it takes for
/// granted of its inputs is asked, then compiled and node by node it has the same results, bit by
/// bit. Another run has inputs that require grad.
void program(std::string_view input);

struct Target {
  const char* name;
  void (*run)(std::string_view);
  std::vector<const char*> corpora;  // folders of tests/fuzz/corpus
};
absl::Span<const Target> targets();

/// Of what a user gives no internal error may come.
void allowed(const Error& e);
/// Does it begin as a `.lathe` file does?
bool is_file(std::string_view input);
/// The graph of a text, verified; nothing if it is refused.
std::optional<ir::Graph> read(std::string_view input);
/// What is in a `.lathe` file; nothing if it is refused.
std::optional<ir::Loaded> load(std::string_view input);

}  // namespace lathe::fuzz
