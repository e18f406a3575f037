// Columns of values in host or device memory. Order statistics and histograms are computed where the values
// are; they are copied to the host only for checkpoints.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace zwang {

// The values of one batch, column by column. NaN: missing.
class ColumnStore {
 public:
  virtual ~ColumnStore() = default;
  virtual std::size_t columns() const = 0;
  virtual std::size_t rows() const = 0;

  // One pass of a radix selection: for each prefix of a column, counts the values whose ordered bits
  // (kernels/reduce/resident_columns.h) begin with it, by their next eight bits. Adds to `counts`, columns x
  // slots x 256.
  struct Digits {
    int shift = 0;
    std::size_t slots = 0;
    std::vector<unsigned long long> prefixes;  // columns x slots, ascending
    std::vector<int> used;                     // by column
  };
  virtual void count_digits(const Digits& digits, std::vector<long long>& counts) = 0;

  // Counts the values of these columns between the edges and adds to `counts`: by column below, the bins,
  // above.
  virtual void count_bins(std::span<const long long> columns, std::span<const double> edges, double per_width,
                          std::vector<long long>& counts) = 0;

  virtual std::vector<double> column(std::size_t column) const = 0;
};

// The order statistics of these ranks (from 0, ascending), by column, over the values of all parts. -0 is
// returned as 0.
std::vector<std::vector<double>> select_order_statistics(std::span<ColumnStore* const> parts,
                                                         const std::vector<std::vector<long long>>& ranks);

// Columns in host memory, not owned.
class HostColumns : public ColumnStore {
 public:
  explicit HostColumns(std::vector<std::span<const double>> columns) : columns_(std::move(columns)) {}
  std::size_t columns() const override { return columns_.size(); }
  std::size_t rows() const override { return columns_.empty() ? 0 : columns_[0].size(); }
  void count_digits(const Digits& digits, std::vector<long long>& counts) override;
  void count_bins(std::span<const long long> columns, std::span<const double> edges, double per_width,
                  std::vector<long long>& counts) override;
  std::vector<double> column(std::size_t column) const override;

 private:
  std::vector<std::span<const double>> columns_;
};

}  // namespace zwang
