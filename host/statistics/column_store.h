// Values that stayed where they were reduced: asked for order statistics and histograms, brought home only for checkpoints.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace zwang {

// Of one batch, column after column. NaN is missing.
class ColumnStore {
 public:
  virtual ~ColumnStore() = default;
  virtual std::size_t columns() const = 0;
  virtual std::size_t rows() const = 0;

  // Of the values whose place (kernels/reduce/resident_columns.h) begins with one of a column's prefixes, how many have which eight digits next:
  // columns x slots x 256, added to `counts`.
  struct Digits {
    int shift = 0;
    std::size_t slots = 0;
    std::vector<unsigned long long> prefixes;  // columns x slots, ascending
    std::vector<int> used;                     // by column
  };
  virtual void count_digits(const Digits& digits, std::vector<long long>& counts) = 0;

  // Counts of these columns between the edges, added: by column below, the bins, above.
  virtual void count_bins(std::span<const long long> columns, std::span<const double> edges, double per_width,
                          std::vector<long long>& counts) = 0;

  virtual std::vector<double> column(std::size_t column) const = 0;
};

// The order statistics of these ranks (from 0, ascending), by column; both zeros are 0. Values lie in all the parts.
std::vector<std::vector<double>> select_order_statistics(std::span<ColumnStore* const> parts,
                                             const std::vector<std::vector<long long>>& ranks);

// Values that lie here, seen the same way: column by column.
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
