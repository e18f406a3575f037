// The link between ranks by MPI: a library of its own, loaded by rank_link.cpp where a launcher started several.
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

// MPI counts in int. Counted in pages a message may be as long as memory; its length in bytes comes first.
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

  void send(int to, RankWord word, std::string bytes) override {
    Letter& letter = sent_.emplace_back();
    letter.bytes = wrapped(bytes);
    MPI_Isend(letter.bytes.data(), static_cast<int>(letter.bytes.size() / page), pages_, to,
              static_cast<int>(word), MPI_COMM_WORLD, &letter.request);
  }

  // A rank may be stopped in the middle of a message: nobody waits for the rest of it.
  std::optional<RankMessage> receive() override {
    sent_.remove_if([](Letter& letter) { return letter.arrived(); });
    accept_announced();
    for (auto letter = coming_.begin(); letter != coming_.end(); ++letter) {
      if (!letter->arrived()) continue;
      RankMessage message{letter->status.MPI_SOURCE, static_cast<RankWord>(letter->status.MPI_TAG),
                          unwrapped(letter->bytes)};
      coming_.erase(letter);
      return message;
    }
    return {};
  }

  void leave() override {
    for (Letter& letter : sent_) MPI_Wait(&letter.request, MPI_STATUS_IGNORE);
    MPI_Type_free(&pages_);
    MPI_Finalize();
  }

  [[noreturn]] void abort(int code) override {
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  struct Letter {
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
      int there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status{};
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &message, &status);
      if (there == 0) return;
      int count = 0;
      MPI_Get_count(&status, pages_, &count);
      Letter& letter = coming_.emplace_back();
      letter.status = status;
      letter.bytes.resize(static_cast<std::size_t>(count) * page);
      MPI_Imrecv(letter.bytes.data(), count, pages_, &message, &letter.request);
    }
  }

  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  MPI_Datatype pages_ = MPI_DATATYPE_NULL;
  std::list<Letter> sent_, coming_;  // on their way
};

}  // namespace

}  // namespace zwang

extern "C" __attribute__((visibility("default"))) zwang::RankLink* zwang_join_ranks() {
  return new zwang::MpiLink;
}
