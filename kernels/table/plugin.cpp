#include "kernels/table/plugin.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <dlfcn.h>
#include <unistd.h>

#include <mutex>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/tensor/allocator.h"
#include "generated/plugins_built.h"
#include "kernels/runtime/launch.h"
#include "kernels/runtime/pool.h"

namespace lathe {
namespace {

struct Opened {
  const PluginApi* api = nullptr;
  Verdict refusal = Verdict::yes();
};

std::byte* host_allocate(size_t bytes) { return allocate(Device{}, bytes); }
void host_release(std::byte* data, size_t bytes) { release(Device{}, data, bytes); }

Opened refused(Reason reason, std::string numbers) {
  return {nullptr, Verdict::no(reason, std::move(numbers))};
}

Opened open(std::string_view name) {
  const OpenedLibrary library = open_library(name);
  if (library.handle == nullptr) return {nullptr, library.refusal};
  auto start = reinterpret_cast<PluginStart>(dlsym(library.handle, "lathe_plugin"));
  if (start == nullptr) return refused(Reason::not_loadable, "it has no lathe_plugin");
  // Neither host nor plug-in goes away before the process does.
  static constexpr PluginHost kHost{host_allocate, host_release, parallel_for};
  Opened opened;
  opened.api = start(kHost, opened.refusal);
  if (opened.api != nullptr && opened.api->abi != kPluginAbi)
    return refused(Reason::not_loadable,
                   absl::StrCat("interface ", opened.api->abi, ", expected ", kPluginAbi));
  if (opened.api == nullptr && opened.refusal.accepted())
    return refused(Reason::not_loadable, "it refused to start");
  return opened;
}

struct Plugins {
  ForkSafeMutex mutex;
  absl::flat_hash_map<std::string, std::unique_ptr<Opened>> opened;
};
Plugins& plugins() {
  static auto& all = *new Plugins;
  return all;
}

const PluginEntry* find_entry(const PluginApi& api, std::string_view name) {
  for (size_t i = 0; i < api.count; ++i)
    if (api.entries[i].name == name) return &api.entries[i];
  return nullptr;
}

/// What the plug-in offers for an entry; null with the reason.
const PluginEntry* offered(const Entry& entry, Verdict& refusal) {
  const PluginApi* api = open_plugin(entry.vendor(), refusal);
  if (api == nullptr) return nullptr;
  const PluginEntry* found = find_entry(*api, entry.name);
  if (found == nullptr) refusal = Verdict::no(Reason::not_built, api->version);
  return found;
}

}  // namespace

static std::string plugin_path(std::string_view file) {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&plugin_path), &self) == 0 || self.dli_fname == nullptr)
    return "";
  std::string folder(self.dli_fname);
  size_t slash = folder.rfind('/');
  folder = slash == std::string::npos ? "." : folder.substr(0, slash);
  for (const char* where : {"", "/../lib"}) {
    std::string path = absl::StrCat(folder, where, "/", file);
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

OpenedLibrary open_library(std::string_view name) {
  const auto none = [](Reason reason, std::string numbers) {
    return OpenedLibrary{nullptr, Verdict::no(reason, std::move(numbers))};
  };
  const BuiltPlugin* built = nullptr;
  for (const BuiltPlugin& p : built_plugins)
    if (name == p.name) built = &p;
  if (built == nullptr) return none(Reason::not_built, "");
  if (built->reason[0] != '\0') return none(Reason::not_built, built->reason);
  const std::string path = plugin_path(built->file);
  if (path.empty()) return none(Reason::not_found, built->file);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return none(Reason::not_loadable, dlerror());
  return {handle, Verdict::yes()};
}

const PluginApi* open_plugin(std::string_view name, Verdict& refusal) {
  Plugins& all = plugins();
  std::lock_guard hold(all.mutex);
  auto& slot = all.opened[std::string(name)];
  if (!slot) slot = std::make_unique<Opened>(open(name));
  refusal = slot->refusal;
  return slot->api;
}

Verdict plugin_accepts(const Entry& entry, const Query& query) {
  if (query.device.kind == DeviceKind::cuda)
    return Verdict::no(Reason::device, to_string(query.device));
  Verdict refusal = Verdict::yes();
  const PluginEntry* found = offered(entry, refusal);
  return found == nullptr ? refusal : found->accepts(query);
}

Verdict plugin_usable(const Entry& entry) {
  Verdict refusal = Verdict::yes();
  return offered(entry, refusal) == nullptr ? refusal : Verdict::yes();
}

PreparedRef plugin_prepare(const Entry& entry, const Problem& problem) {
  Verdict refusal = Verdict::yes();
  const PluginApi* api = open_plugin(entry.vendor(), refusal);
  LATHE_CHECK(api != nullptr);
  return find_entry(*api, entry.name)->prepare(problem);
}

void plugin_run(const Entry& entry, const Prepared& prepared, const Launch& launch) {
  Verdict refusal = Verdict::yes();
  const PluginApi* api = open_plugin(entry.vendor(), refusal);
  LATHE_CHECK(api != nullptr);
  find_entry(*api, entry.name)->run(prepared, launch);
}

void plugin_take(const Entry& entry, const Call& call, Outputs& outputs) {
  Verdict refusal = Verdict::yes();
  const PluginApi* api = open_plugin(entry.vendor(), refusal);
  LATHE_CHECK(api != nullptr);
  const PluginEntry& found = *find_entry(*api, entry.name);
  Tensors given, made;
  std::vector<Operand> in, out;
  for (const Arg& a : call.args) {
    if (a.tag != Tag::tensor) continue;
    given.push_back(a.tensor());
    in.push_back(operand(given.back()));
  }
  for (const TensorType& type : call.types) {
    made.push_back(empty(type));
    out.push_back(operand(made.back()));
  }
  // A device does this later, when the call is over.
  auto work = [&found, &op = call.op, args = ArgVec(call.args), in = std::move(in),
               out = std::move(out)] {
    Fault fault = found.call({op.name(), args, in, out});
    if (fault.problem.empty()) return;
    throw LinAlgError({.op = op.public_name(),
                       .problem = std::move(fault.problem),
                       .got = std::move(fault.got),
                       .expected = std::move(fault.expected),
                       .next = std::move(fault.next)});
  };
  submit(made[0].device(), given, made, std::move(work));
  for (Tensor& t : made) outputs.push_back(std::move(t));
}

}  // namespace lathe
