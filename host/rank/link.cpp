// Detection of a launcher, loading of the MPI module, and links within a process.
#include "host/rank/link.h"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "host/backend/cuda/library.h"
#include "host/platform/machine_error.h"

namespace zwang {

namespace {

namespace fs = std::filesystem;

constexpr const char* module_name = "libzwang_mpi.so";
constexpr const char* entry_name = "zwang_join_ranks";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Beside the program or in the installed library folder; ZWANG_MPI overrides both.
std::vector<fs::path> module_places() {
  if (const std::string wanted = variable("ZWANG_MPI"); !wanted.empty()) return {fs::absolute(wanted)};
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
  return {program / module_name, program / ".." / ZWANG_LIBRARY_FOLDER / module_name};
}

[[noreturn]] void refuse(const std::string& found) {
  throw MachineError(
      {.message = "this process is one of several ranks, but the MPI module could not be loaded",
       .found = found,
       .expected = std::string(module_name) + ", which is built if Open MPI is installed",
       .hint = "set ZWANG_MPI to the path of the module, or ZWANG_MPI=off to run without the other ranks"});
}

}  // namespace

// Variables set by Open MPI's mpirun and by srun with PMIx or PMI. SLURM_PROCID is not used: a batch script
// has it too.
bool started_as_rank() {
  if (variable("ZWANG_MPI") == "off") return false;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (!variable(name).empty()) return true;
  return false;
}

// The code that needs MPI is a separate library, so that the program runs without MPI. Its symbols are loaded
// globally because Open MPI's plug-ins look them up.
std::unique_ptr<RankLink> join_ranks() {
  if (!started_as_rank()) return nullptr;
  std::string found = "no such file";
  for (const fs::path& place : module_places()) {
    std::error_code failed;
    if (!fs::exists(place, failed)) continue;
    void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* entry = library != nullptr ? ::dlsym(library, entry_name) : nullptr;
    if (entry == nullptr) {
      const char* why = ::dlerror();
      found = why != nullptr ? why : "a library without " + std::string(entry_name);
      continue;
    }
    std::unique_ptr<RankLink> link(reinterpret_cast<RankLink* (*)()>(entry)());
    if (link->size() > 1) return link;
    link->leave();
    return nullptr;
  }
  // A launcher that starts a single process does not need MPI.
  if (variable("OMPI_COMM_WORLD_SIZE") == "1") return nullptr;
  refuse(found);
}

unsigned rank_threads(const RankLink& link) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < online)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
  return std::max(1U, cores / static_cast<unsigned>(std::max(1, link.local_size())));
}

int rank_device(const RankLink& link, const std::vector<int>& named) {
  const int of = named.empty() ? cuda::devices_here() : static_cast<int>(named.size());
  const int turn = of > 0 ? link.local_rank() % of : 0;
  return named.empty() ? turn : named[static_cast<std::size_t>(turn)];
}

// --- Within a process --------------------------------------------------------------------------------------

void Mailbox::put(RankMessage message) {
  const std::scoped_lock lock(guard_);
  waiting_.push_back(std::move(message));
}

std::optional<RankMessage> Mailbox::take() {
  const std::scoped_lock lock(guard_);
  if (waiting_.empty()) return {};
  RankMessage message = std::move(waiting_.front());
  waiting_.pop_front();
  return message;
}

void LocalLink::send(int to, MessageKind kind, std::string bytes) {
  assert(to == 0);
  (void)to;
  to_first_.put({rank_, kind, std::move(bytes)});
}

void LocalLink::abort(int code) { std::_Exit(code); }

}  // namespace zwang
