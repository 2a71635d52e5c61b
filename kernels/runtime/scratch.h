// Memory that a kernel needs while it runs, from the caching allocator.
#pragma once

#include "core/tensor/allocator.h"

namespace lathe {

class Scratch {
 public:
  explicit Scratch(size_t bytes) : bytes_(bytes), data_(allocate(Device{}, bytes)) {}
  ~Scratch() { release(Device{}, data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  size_t bytes_;
  std::byte* data_;
};

}  // namespace lathe
