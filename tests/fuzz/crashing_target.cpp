// A target that crashes, to test the driver: the first word of the input says how.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

// Writes in front of a block that was freed. The next allocation looks at that block with the lock of malloc
// held: there is a second thread. Without volatile the compiler leaves all of this out.
void damage_heap() {
  std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
  constexpr std::size_t size = 20000;
  std::size_t* volatile freed = static_cast<std::size_t*>(std::malloc(size));
  void* volatile behind = std::malloc(size);
  volatile std::size_t* volatile same = freed;
  std::free(freed);
  same[-1] = static_cast<std::size_t>(-1);
  void* volatile larger = std::malloc(2 * size);
  std::free(larger);
  std::free(behind);
}

// Deeper than any stack.
int recurse(int depth) {
  volatile char frame[4096];
  frame[depth % 4096] = 1;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[0];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string way(reinterpret_cast<const char*>(data), size);
  if (way.starts_with("heap")) damage_heap();
  if (way.starts_with("stack")) return recurse(1 << 30) > 0 ? 0 : 1;
  return 0;
}
