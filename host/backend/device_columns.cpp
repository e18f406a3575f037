#include "host/backend/device_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/platform/machine_error.h"
#include "kernels/reduce/resident_columns.h"

namespace zwang {

namespace {

using Address = ReduceMachine::Address;

template <class T>
T* device_pointer(Address address) {
  return reinterpret_cast<T*>(address);  // of another machine: never followed here
}

[[noreturn]] void no_room(std::size_t bytes) {
  throw MachineError({.message = "the GPU has no memory left for order statistics",
                      .found = fmt::format("{} bytes wanted", bytes),
                      .expected = "free memory on the device",
                      .hint = "another process may hold it"});
}

class KeptThere : public KeptValues {
 public:
  KeptThere(ReduceMachine& machine, Address values, std::size_t columns, std::size_t rows)
      : machine_(machine), values_(values), columns_(columns), rows_(rows) {
    job_.values = device_pointer<const double>(values);
    job_.columns = static_cast<long long>(columns);
    job_.rows = static_cast<long long>(rows);
    job_.lanes = std::clamp<long long>(job_.rows / 64, 1, 4096);
  }
  ~KeptThere() override {
    try {
      machine_.use();
      machine_.give_back(values_);
    } catch (const MachineError&) {
      // The machine is lost, and what it held with it: whoever found out first has told.
    }
  }

  std::size_t columns() const override { return columns_; }
  std::size_t rows() const override { return rows_; }

  void count_digits(const Digits& digits, std::vector<long long>& counts) override {
    machine_.use();
    Room room(machine_);
    ResidentColumns job = job_;
    job.shift = digits.shift;
    job.slots = static_cast<long long>(digits.slots);
    room.plan(job.prefixes, digits.prefixes.size());
    room.plan(job.used, digits.used.size());
    room.plan(job.digit_counts, counts.size());
    room.reserve();
    room.send(job.prefixes, digits.prefixes);
    room.send(job.used, digits.used);
    room.count(job.digit_counts, counts,
               [&] { machine_.run("count_radix_digits", &job, sizeof job, job.columns * job.lanes); });
  }

  void count_bins(std::span<const long long> columns, std::span<const double> edges, double per_width,
                  std::vector<long long>& counts) override {
    machine_.use();
    Room room(machine_);
    ResidentColumns job = job_;
    job.bins = static_cast<long long>(edges.size()) - 1;
    job.per_width = per_width;
    room.plan(job.counted, columns.size());
    room.plan(job.edges, edges.size());
    room.plan(job.bin_counts, counts.size());
    room.reserve();
    room.send(job.counted, std::vector<long long>(columns.begin(), columns.end()));
    room.send(job.edges, std::vector<double>(edges.begin(), edges.end()));
    room.count(job.bin_counts, counts, [&] {
      machine_.run("count_bins", &job, sizeof job, static_cast<long long>(columns.size()) * job.lanes);
    });
  }

  std::vector<double> column(std::size_t column) const override {
    machine_.use();
    std::vector<double> values(rows_);
    if (rows_ > 0)
      machine_.copy_out(values.data(), values_ + column * rows_ * sizeof(double), rows_ * sizeof(double));
    return values;
  }

 private:
  // Pieces of one reservation: planned first, then placed.
  class Room {
   public:
    explicit Room(ReduceMachine& machine) : machine_(machine) {}

    template <class T>
    void plan(T*& place, std::size_t count) {
      places_.push_back({[&place](Address at) { place = device_pointer<T>(at); }, size_});
      size_ += (count * sizeof(T) + 255) / 256 * 256;
    }
    void reserve() {
      const std::optional<Address> base = machine_.reserve(size_);
      if (!base) no_room(size_);
      for (const auto& [set, offset] : places_) set(*base + offset);
    }
    template <class T>
    void send(const T* to, const std::vector<T>& values) {
      if (!values.empty())
        machine_.copy_in(reinterpret_cast<Address>(to), values.data(), values.size() * sizeof(T));
    }
    // Clears, works, brings back and adds.
    template <class T, class Work>
    void count(const T* there, std::vector<long long>& counts, const Work& work) {
      if (counts.empty()) return;
      machine_.clear(reinterpret_cast<Address>(there), counts.size() * sizeof(T));
      work();
      std::vector<T> found(counts.size());
      machine_.copy_out(found.data(), reinterpret_cast<Address>(there), found.size() * sizeof(T));
      for (std::size_t k = 0; k < found.size(); ++k) counts[k] += static_cast<long long>(found[k]);
    }

   private:
    ReduceMachine& machine_;
    std::vector<std::pair<std::function<void(Address)>, std::size_t>> places_;
    std::size_t size_ = 0;
  };

  ReduceMachine& machine_;
  Address values_;
  std::size_t columns_, rows_;
  ResidentColumns job_{};
};

}  // namespace

std::shared_ptr<KeptValues> kept_there(ReduceMachine& machine, Address values, std::size_t columns,
                                       std::size_t rows) {
  return std::make_shared<KeptThere>(machine, values, columns, rows);
}

}  // namespace zwang
