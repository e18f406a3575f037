#include "host/statistics/column_store.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "kernels/reduce/counts.h"
#include "kernels/reduce/resident_columns.h"

namespace zwang {

namespace {

constexpr int digit_bits = 8, digit_values = 256;

// Radix search of one rank: the leading bits found so far, and the rank among the values that begin with
// them.
struct Search {
  unsigned long long prefix = 0;
  long long rank = 0;
};

double value_at(unsigned long long place) {
  constexpr unsigned long long sign = 1ULL << 63;
  return std::bit_cast<double>((place & sign) != 0 ? place ^ sign : ~place);
}

// The prefixes of all searches, each once. They ascend because the ranks do.
ColumnStore::Digits digits_sought(const std::vector<std::vector<Search>>& searches, int shift) {
  ColumnStore::Digits made;
  made.shift = shift;
  std::vector<std::vector<unsigned long long>> lists;
  for (const std::vector<Search>& column : searches) {
    std::vector<unsigned long long>& list = lists.emplace_back();
    for (const Search& search : column)
      if (list.empty() || list.back() != search.prefix) list.push_back(search.prefix);
    made.slots = std::max(made.slots, list.size());
  }
  made.prefixes.resize(lists.size() * made.slots, 0);
  for (std::size_t c = 0; c < lists.size(); ++c) {
    made.used.push_back(static_cast<int>(lists[c].size()));
    std::copy(lists[c].begin(), lists[c].end(), made.prefixes.begin() + std::ptrdiff_t(c * made.slots));
  }
  return made;
}

void descend(Search& search, std::span<const long long> counts) {
  for (unsigned digit = 0; digit < digit_values; ++digit) {
    if (search.rank < counts[digit]) {
      search.prefix = search.prefix << digit_bits | digit;
      return;
    }
    search.rank -= counts[digit];
  }
  assert(false);  // the rank exceeds the number of values
}

}  // namespace

std::vector<std::vector<double>> select_order_statistics(std::span<ColumnStore* const> parts,
                                                         const std::vector<std::vector<long long>>& ranks) {
  std::vector<std::vector<Search>> searches(ranks.size());
  for (std::size_t c = 0; c < ranks.size(); ++c)
    for (const long long rank : ranks[c]) searches[c].push_back({0, rank});

  for (int shift = 64 - digit_bits; shift >= 0; shift -= digit_bits) {
    const ColumnStore::Digits digits = digits_sought(searches, shift);
    if (digits.slots == 0) break;
    std::vector<long long> counts(ranks.size() * digits.slots * digit_values, 0);
    for (ColumnStore* part : parts) part->count_digits(digits, counts);
    for (std::size_t c = 0; c < searches.size(); ++c)
      for (Search& search : searches[c]) {
        const auto slot = slot_of(digits.prefixes.data() + c * digits.slots, digits.used[c], search.prefix);
        descend(search,
                std::span(counts).subspan((c * digits.slots + static_cast<std::size_t>(slot)) * digit_values,
                                          digit_values));
      }
  }
  std::vector<std::vector<double>> found(ranks.size());
  for (std::size_t c = 0; c < searches.size(); ++c)
    for (const Search& search : searches[c]) found[c].push_back(value_at(search.prefix));
  return found;
}

void HostColumns::count_digits(const Digits& digits, std::vector<long long>& counts) {
  for (std::size_t c = 0; c < columns_.size(); ++c)
    for (const double x : columns_[c]) {
      if (x != x) continue;
      const unsigned long long place = ordered_place(x) >> digits.shift;
      const long long slot =
          slot_of(digits.prefixes.data() + c * digits.slots, digits.used[c], place >> digit_bits);
      if (slot < 0) continue;
      ++counts[(c * digits.slots + static_cast<std::size_t>(slot)) * digit_values + (place & 255)];
    }
}

void HostColumns::count_bins(std::span<const long long> columns, std::span<const double> edges,
                             double per_width, std::vector<long long>& counts) {
  const auto bins = static_cast<long long>(edges.size()) - 1;
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (const double x : columns_[static_cast<std::size_t>(columns[k])]) {
      if (x != x) continue;
      ++counts[k * (edges.size() + 1) +
               static_cast<std::size_t>(histogram_place(edges.data(), bins, per_width, x))];
    }
}

std::vector<double> HostColumns::column(std::size_t column) const {
  return {columns_[column].begin(), columns_[column].end()};
}

}  // namespace zwang
