// Large pieces of host memory that are used again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace zwang {

// Memory that is not initialised.
class HostBuffer {
 public:
  HostBuffer() = default;
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  void resize(std::size_t bytes);  // the contents are lost
  char* data() { return data_; }
  std::span<const char> bytes() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// Fresh pages for every batch of results would cost as much time as copying them. Buffers may be given back
// from any thread, also after the pool has ended.
class BufferPool {
 public:
  std::shared_ptr<HostBuffer> take(std::size_t bytes);

 private:
  struct Free {
    std::mutex guard;
    std::vector<std::unique_ptr<HostBuffer>> buffers;
  };
  std::shared_ptr<Free> free_ = std::make_shared<Free>();
};

}  // namespace zwang
