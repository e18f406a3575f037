#include "host/platform/buffer_pool.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>

namespace zwang {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

HostBuffer::~HostBuffer() { std::free(data_); }

void HostBuffer::resize(std::size_t bytes) {
  if (bytes > capacity_) {
    std::free(data_);
    data_ = nullptr;
    capacity_ = 0;
    const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
    data_ = static_cast<char*>(std::aligned_alloc(huge_page, whole));
    if (data_ == nullptr) throw std::bad_alloc();
    capacity_ = whole;
    // A request only: with pages of 4 KiB everything works as well.
    if (bytes >= huge_page) ::madvise(data_, whole, MADV_HUGEPAGE);
  }
  size_ = bytes;
}

std::shared_ptr<HostBuffer> BufferPool::take(std::size_t bytes) {
  std::unique_ptr<HostBuffer> made;
  {
    const std::scoped_lock lock(free_->guard);
    if (!free_->buffers.empty()) {
      made = std::move(free_->buffers.back());
      free_->buffers.pop_back();
    }
  }
  if (!made) made = std::make_unique<HostBuffer>();
  made->resize(bytes);
  return {made.release(), [free = free_](HostBuffer* buffer) {
            const std::scoped_lock lock(free->guard);
            free->buffers.emplace_back(buffer);
          }};
}

}  // namespace zwang
