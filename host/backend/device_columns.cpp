#include "host/backend/device_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "host/platform/machine_error.h"
#include "kernels/reduce/resident_columns.h"

namespace zwang {

namespace {

using Address = ReductionDevice::Address;

template <class T>
T* device_pointer(Address address) {
  return reinterpret_cast<T*>(address);  // a device address: not dereferenced on the host
}

[[noreturn]] void report_out_of_memory(std::size_t bytes) {
  throw MachineError({.message = "the GPU has no memory left for order statistics",
                      .found = fmt::format("{} bytes needed", bytes),
                      .expected = "free memory on the device",
                      .hint = "another process may be using it"});
}

class DeviceColumns : public ColumnStore {
 public:
  DeviceColumns(ReductionDevice& device, Address values, std::size_t columns, std::size_t rows)
      : device_(device), values_(values), columns_(columns), rows_(rows) {
    job_.values = device_pointer<const double>(values);
    job_.columns = static_cast<long long>(columns);
    job_.rows = static_cast<long long>(rows);
    job_.lanes = std::clamp<long long>(job_.rows / 64, 1, 4096);
  }
  ~DeviceColumns() override {
    try {
      device_.make_current();
      device_.release(values_);
    } catch (const MachineError&) {
      // The device is lost together with its memory. The first failed call has already reported it.
    }
  }

  std::size_t columns() const override { return columns_; }
  std::size_t rows() const override { return rows_; }

  void count_digits(const Digits& digits, std::vector<long long>& counts) override {
    device_.make_current();
    Scratch scratch(device_);
    ResidentColumns job = job_;
    job.shift = digits.shift;
    job.slots = static_cast<long long>(digits.slots);
    scratch.plan(job.prefixes, digits.prefixes.size());
    scratch.plan(job.used, digits.used.size());
    scratch.plan(job.digit_counts, counts.size());
    scratch.reserve();
    scratch.send(job.prefixes, digits.prefixes);
    scratch.send(job.used, digits.used);
    scratch.count(job.digit_counts, counts,
                  [&] { device_.run("count_radix_digits", &job, sizeof job, job.columns * job.lanes); });
  }

  void count_bins(std::span<const long long> columns, std::span<const double> edges, double per_width,
                  std::vector<long long>& counts) override {
    device_.make_current();
    Scratch scratch(device_);
    ResidentColumns job = job_;
    job.bins = static_cast<long long>(edges.size()) - 1;
    job.per_width = per_width;
    scratch.plan(job.counted, columns.size());
    scratch.plan(job.edges, edges.size());
    scratch.plan(job.bin_counts, counts.size());
    scratch.reserve();
    scratch.send(job.counted, std::vector<long long>(columns.begin(), columns.end()));
    scratch.send(job.edges, std::vector<double>(edges.begin(), edges.end()));
    scratch.count(job.bin_counts, counts, [&] {
      device_.run("count_bins", &job, sizeof job, static_cast<long long>(columns.size()) * job.lanes);
    });
  }

  std::vector<double> column(std::size_t column) const override {
    device_.make_current();
    std::vector<double> values(rows_);
    if (rows_ > 0)
      device_.copy_out(values.data(), values_ + column * rows_ * sizeof(double), rows_ * sizeof(double));
    return values;
  }

 private:
  // Arrays in one block of scratch memory: sizes are planned first, then addresses are assigned.
  class Scratch {
   public:
    explicit Scratch(ReductionDevice& device) : device_(device) {}

    template <class T>
    void plan(T*& place, std::size_t count) {
      places_.push_back({[&place](Address at) { place = device_pointer<T>(at); }, size_});
      size_ += (count * sizeof(T) + 255) / 256 * 256;
    }
    void reserve() {
      const std::optional<Address> base = device_.reserve(size_);
      if (!base) report_out_of_memory(size_);
      for (const auto& [set, offset] : places_) set(*base + offset);
    }
    template <class T>
    void send(const T* to, const std::vector<T>& values) {
      if (!values.empty())
        device_.copy_in(reinterpret_cast<Address>(to), values.data(), values.size() * sizeof(T));
    }
    // Clears the counters on the device, runs `work`, copies the counters back and adds them to `counts`.
    template <class T, class Work>
    void count(const T* on_device, std::vector<long long>& counts, const Work& work) {
      if (counts.empty()) return;
      device_.clear(reinterpret_cast<Address>(on_device), counts.size() * sizeof(T));
      work();
      std::vector<T> found(counts.size());
      device_.copy_out(found.data(), reinterpret_cast<Address>(on_device), found.size() * sizeof(T));
      for (std::size_t k = 0; k < found.size(); ++k) counts[k] += static_cast<long long>(found[k]);
    }

   private:
    ReductionDevice& device_;
    std::vector<std::pair<std::function<void(Address)>, std::size_t>> places_;
    std::size_t size_ = 0;
  };

  ReductionDevice& device_;
  Address values_;
  std::size_t columns_, rows_;
  ResidentColumns job_{};
};

}  // namespace

std::shared_ptr<ColumnStore> make_device_columns(ReductionDevice& device, Address values, std::size_t columns,
                                                 std::size_t rows) {
  return std::make_shared<DeviceColumns>(device, values, columns, rows);
}

}  // namespace zwang
