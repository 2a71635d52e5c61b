// How a vendor's shared object offers its entries: one function, `lathe_plugin`, gives a table of
// plain functions.
//
// A plug-in carries its own copy of the parts of core it uses, so it must not rely on process-wide
// state there (flags, definitions, devices, memory, threads): what it needs of these comes in
// PluginHost. Its functions run on our threads and must use no others.
#pragma once

#include <string>

#include "kernels/table/table.h"

namespace lathe {

inline constexpr uint32_t kPluginAbi = 5;

struct PluginHost {
  std::byte* (*allocate)(size_t bytes);
  void (*release)(std::byte* data, size_t bytes);
  void (*parallel_for)(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t, int64_t)> body);
};

/// A call of an opaque definition, in numbers.
struct PluginCall {
  std::string_view op;
  Args args;                      // attributes; of the tensors only `in` may be read
  absl::Span<const Operand> in;   // the tensors among args, in order
  absl::Span<const Operand> out;  // contiguous
};

/// Why a call has no result: numbers that the algorithm cannot do with. Becomes a LinAlgError; none
/// if `problem` is empty.
struct Fault {
  std::string problem, got, expected, next;
};

struct PluginEntry {
  std::string_view name;  // of the entry in the table it stands for
  Verdict (*accepts)(const Query&);
  PreparedRef (*prepare)(const Problem&);       // contractions
  void (*run)(const Prepared&, const Launch&);  // contractions
  Fault (*call)(const PluginCall&) = nullptr;   // opaque definitions
};

struct PluginApi {
  uint32_t abi;
  const char* version;  // of the vendor's library, as it reports it
  const PluginEntry* entries;
  size_t count;
};

/// Null: the library cannot be used here, and `refusal` says why.
using PluginStart = const PluginApi* (*)(const PluginHost& host, Verdict& refusal);

extern "C" const PluginApi* lathe_plugin(const PluginHost& host, Verdict& refusal);

/// The plug-in of this name, opened on first use and kept; null with the reason.
const PluginApi* open_plugin(std::string_view name, Verdict& refusal);

/// A shared object of this build, by its name in the list of plug-ins; null with the reason. It
/// lies beside the program or library that holds Lathe, or in ../lib. Never closed: what comes from
/// it outlives any one user.
struct OpenedLibrary {
  void* handle = nullptr;
  Verdict refusal = Verdict::yes();
};
OpenedLibrary open_library(std::string_view name);

// What a table entry that stands for a plug-in's does.
Verdict plugin_usable(const Entry& entry);
Verdict plugin_accepts(const Entry& entry, const Query& query);
PreparedRef plugin_prepare(const Entry& entry, const Problem& problem);
void plugin_run(const Entry& entry, const Prepared& prepared, const Launch& launch);
void plugin_take(const Entry& entry, const Call& call, Outputs& outputs);

}  // namespace lathe
