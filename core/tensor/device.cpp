#include "core/tensor/device.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/base/fork.h"

namespace lathe {
namespace {

constexpr int kKinds = 3;
constexpr int kMostDevices = 16;  // of one kind
constexpr std::string_view kNames[kKinds] = {"cpu", "sim", "cuda"};

// Written under the mutex, read without it; a device once added is never removed.
using Slots = std::array<std::array<std::atomic<DeviceApi*>, kMostDevices>, kKinds>;
constinit Slots slots{};
constinit ForkSafeMutex slots_mutex;

std::string known_devices() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kKinds; kind++) {
    for (int index = 0; index < kMostDevices; index++) {
      bool built_in = index == 0 && kind != static_cast<int>(DeviceKind::cuda);
      if (built_in || slots[kind][index].load(std::memory_order_acquire))
        names.push_back(
            to_string(Device{static_cast<DeviceKind>(kind), static_cast<uint8_t>(index)}));
    }
  }
  return absl::StrJoin(names, ", ");
}

[[noreturn]] void no_such_device(std::string_view text) {
  throw DeviceError({.op = "device",
                     .problem = "there is no such device",
                     .got = std::string(text),
                     .expected = absl::StrCat("one of: ", known_devices()),
                     .next = "name one of these"});
}

// The first device of its kind is made on first use, so that nothing runs before main.
DeviceApi* make_built_in(Device device) {
  if (device.index != 0 || device.kind == DeviceKind::cuda) return nullptr;
  auto api = device.kind == DeviceKind::cpu ? make_cpu_device() : make_sim_device();
  auto& slot = slots[static_cast<int>(device.kind)][0];
  std::lock_guard hold(slots_mutex);
  if (!slot.load(std::memory_order_acquire)) slot.store(api.release(), std::memory_order_release);
  return slot.load(std::memory_order_acquire);
}

struct ThreadStreams {
  std::unique_ptr<Stream> of[kKinds][kMostDevices];
};

}  // namespace

Device parse_device(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos &&
      (!absl::SimpleAtoi(text.substr(colon + 1), &index) || index < 0 || index >= kMostDevices))
    no_such_device(text);
  for (int k = 0; k < kKinds; k++)
    if (kind == kNames[k]) return {static_cast<DeviceKind>(k), static_cast<uint8_t>(index)};
  no_such_device(text);
}

std::string to_string(Device device) {
  std::string_view kind = kNames[static_cast<int>(device.kind)];
  if (device.index == 0) return std::string(kind);
  return absl::StrCat(kind, ":", static_cast<int>(device.index));
}

DeviceApi& device_api(Device device) {
  DeviceApi* api = nullptr;
  if (device.index < kMostDevices) {
    api = slots[static_cast<int>(device.kind)][device.index].load(std::memory_order_acquire);
    if (!api) [[unlikely]]
      api = make_built_in(device);
  }
  if (!api) no_such_device(to_string(device));
  return *api;
}

void add_device(DeviceKind kind, std::unique_ptr<DeviceApi> api) {
  std::lock_guard hold(slots_mutex);
  for (auto& slot : slots[static_cast<int>(kind)]) {
    if (slot.load(std::memory_order_acquire)) continue;
    slot.store(api.release(), std::memory_order_release);
    return;
  }
  throw DeviceError({.problem = "too many devices of one kind", .expected = "at most 16"});
}

bool has_device(DeviceKind kind) {
  return kind != DeviceKind::cuda ||
         slots[static_cast<int>(kind)][0].load(std::memory_order_acquire) != nullptr;
}

Stream& current_stream(Device device) {
  // Made on a thread's first use of a device, destroyed with the thread. Not there itself: what a
  // library that is opened late has for each thread comes out of little room that all share.
  static thread_local std::unique_ptr<ThreadStreams> streams;  // NOLINT
  if (!streams) streams = std::make_unique<ThreadStreams>();
  DeviceApi& api = device_api(device);
  auto& stream = streams->of[static_cast<int>(device.kind)][device.index];
  if (!stream) stream = api.make_stream();
  return *stream;
}

void host_wait(const Event& event) {
  if (event) event->wait();
}

}  // namespace lathe
