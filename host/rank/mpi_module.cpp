// RankLink by MPI: a separate library, loaded by host/rank/link.cpp if a launcher started several ranks.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>

#include "host/rank/link.h"

namespace zwang {

namespace {

// MPI counts are of type int. Messages are counted in pages so that their size is not limited by int; the
// length in bytes comes first.
constexpr std::size_t page = 4096;

std::string wrapped(const std::string& bytes) {
  const std::uint64_t length = bytes.size();
  std::string made(reinterpret_cast<const char*>(&length), sizeof length);
  made += bytes;
  made.resize((made.size() + page - 1) / page * page);
  return made;
}

std::string unwrapped(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return bytes.substr(sizeof length, length);
}

class MpiLink : public RankLink {
 public:
  MpiLink() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm local = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &local_rank_);
    MPI_Comm_size(local, &local_size_);
    MPI_Comm_free(&local);
    MPI_Type_contiguous(static_cast<int>(page), MPI_BYTE, &pages_);
    MPI_Type_commit(&pages_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }
  std::string host() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
  }

  void send(int to, MessageKind kind, std::string bytes) override {
    Transfer& transfer = sending_.emplace_back();
    transfer.bytes = wrapped(bytes);
    MPI_Isend(transfer.bytes.data(), static_cast<int>(transfer.bytes.size() / page), pages_, to,
              static_cast<int>(kind), MPI_COMM_WORLD, &transfer.request);
  }

  // A rank may be stopped in the middle of a message, so an incomplete message must not block the caller.
  std::optional<RankMessage> receive() override {
    sending_.remove_if([](Transfer& transfer) { return transfer.arrived(); });
    accept_announced();
    for (auto transfer = receiving_.begin(); transfer != receiving_.end(); ++transfer) {
      if (!transfer->arrived()) continue;
      RankMessage message{transfer->status.MPI_SOURCE, static_cast<MessageKind>(transfer->status.MPI_TAG),
                          unwrapped(transfer->bytes)};
      receiving_.erase(transfer);
      return message;
    }
    return {};
  }

  void leave() override {
    for (Transfer& transfer : sending_) MPI_Wait(&transfer.request, MPI_STATUS_IGNORE);
    MPI_Type_free(&pages_);
    MPI_Finalize();
  }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Transfer {
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};

    bool arrived() {
      int done = 0;
      MPI_Status now{};
      MPI_Test(&request, &done, &now);
      return done != 0;
    }
  };

  void accept_announced() {
    for (;;) {
      int arrived = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status{};
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, &message, &status);
      if (arrived == 0) return;
      int count = 0;
      MPI_Get_count(&status, pages_, &count);
      Transfer& transfer = receiving_.emplace_back();
      transfer.status = status;
      transfer.bytes.resize(static_cast<std::size_t>(count) * page);
      MPI_Imrecv(transfer.bytes.data(), count, pages_, &message, &transfer.request);
    }
  }

  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  MPI_Datatype pages_ = MPI_DATATYPE_NULL;
  std::list<Transfer> sending_, receiving_;  // in progress
};

}  // namespace

}  // namespace zwang

extern "C" __attribute__((visibility("default"))) zwang::RankLink* zwang_join_ranks() {
  return new zwang::MpiLink;
}
