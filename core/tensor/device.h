// Devices are siblings: each registers one DeviceApi, and everything above talks to memory and to
// streams of work only through it. `cpu` runs work at once on the caller's stream; `sim` runs it
// later on a thread of its own, in memory that host code may not touch, so that a missing wait is
// found without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace lathe {

enum class DeviceKind : uint8_t { cpu = 0, sim = 1, cuda = 2 };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  uint8_t index = 0;
  friend bool operator==(Device, Device) = default;
};
/// "cpu", "cuda:1" → Device; DeviceError names the devices there are.
Device parse_device(std::string_view text);
std::string to_string(Device device);

class Stream;

/// A point in a stream's work. Each kind of device derives its own. Null: already reached.
struct EventState {
  virtual ~EventState() = default;
  virtual bool reached() const = 0;
  /// Blocks until reached; rethrows the error, if any, of the work before it.
  virtual void wait() = 0;
};
using Event = std::shared_ptr<EventState>;

struct DeviceFacts {
  std::string name;
  size_t memory_bytes = 0;
  bool host_readable = true;  // may host code dereference its pointers?
};

/// The whole of what a device must offer.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;
  virtual std::byte* allocate(size_t bytes) = 0;  // 64-byte aligned; MemoryError when there is none
  virtual void release(std::byte* data, size_t bytes) = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual DeviceFacts facts() const = 0;
};

/// An ordered queue of work. Work handed to one stream runs in order; across streams only events
/// order.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Device device() const = 0;
  /// Runs `work` after everything handed over before. The pointers it uses belong to this device.
  virtual void enqueue(std::function<void()> work) = 0;
  virtual void copy(std::byte* to, const std::byte* from,
                    size_t bytes) = 0;  // any mix of host, device
  virtual Event record() = 0;
  virtual void wait(const Event& event) = 0;
  /// Returns when all work handed over is done; rethrows the first error of that work.
  virtual void synchronize() = 0;
};

/// DeviceError if this build or machine has no such device. `cpu` and `sim` are always there;
/// others are added at start-up, the first of a kind as index 0, the next as 1 ...
DeviceApi& device_api(Device device);
void add_device(DeviceKind kind, std::unique_ptr<DeviceApi> api);
bool has_device(DeviceKind kind);
/// The calling thread's current stream on that device.
Stream& current_stream(Device device);

std::unique_ptr<DeviceApi> make_cpu_device();
std::unique_ptr<DeviceApi> make_sim_device();

/// Blocks until the event is reached; rethrows the first error of the work it stands for.
void host_wait(const Event& event);

}  // namespace lathe
