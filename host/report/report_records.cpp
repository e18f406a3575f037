// Part of a report: the rows of [[record]] as densities: sections, return maps and bifurcation diagrams.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "host/files/write_origin.h"
#include "host/netcdf/netcdf_source.h"
#include "host/report/report_data.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t section_columns = 220, section_rows = 160;
constexpr std::size_t diagram_columns = 600, diagram_rows = 300;
constexpr std::size_t rows_read = 1 << 20;

struct ValueRange {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void include(double x) {
    if (!std::isfinite(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  // Half a per cent of room, and some room around a single value.
  void widen() {
    if (low > high) low = 0, high = 1;
    const double room = high > low ? 0.005 * (high - low) : std::max(std::abs(low) * 0.1, 1e-9);
    low -= room;
    high += room;
  }
  std::optional<std::size_t> bin(double x, std::size_t bins) const {
    if (!(x >= low && x <= high)) return {};
    return std::min(bins - 1, static_cast<std::size_t>((x - low) / (high - low) * static_cast<double>(bins)));
  }
};

// Counts in cells, written as [cell, count, cell, count ...] of the cells that are not empty.
struct Density {
  Density(std::size_t columns_in, std::size_t rows_in)
      : columns(columns_in), rows(rows_in), counts(columns_in * rows_in, 0) {}
  void add(std::optional<std::size_t> column, std::optional<std::size_t> row) {
    if (column && row) ++counts[*column * rows + *row];
  }
  ReportJson json(const ReportJson& x, const ValueRange& y) const {
    ReportJson cells = ReportJson::array();
    for (std::size_t k = 0; k < counts.size(); ++k)
      if (counts[k] > 0) {
        cells.push_back(k);
        cells.push_back(counts[k]);
      }
    return {{"columns", columns},
            {"rows", rows},
            {"cells", cells},
            {"x", x},
            {"y", {rounded(y.low), rounded(y.high)}}};
  }

  std::size_t columns, rows;
  std::vector<long long> counts;
};

// One record of the file: passes over its rows, member by member.
class RecordOfFile {
 public:
  RecordOfFile(const NetcdfSource& file, const RecordFormula& formula)
      : file_(file),
        formula_(formula),
        counts_(file.integers(formula.name + "_count")),
        numbers_(file.integers("member")) {
    for (const long long count : counts_) rows_ += static_cast<std::size_t>(std::max(0LL, count));
  }

  std::size_t rows() const { return rows_; }
  const std::vector<long long>& counts() const { return counts_; }

  long long number(std::size_t member) const { return numbers_[member]; }

  // visit(member, values, is the first row of the member); members in the order of the file
  template <class Visit>
  void each_row(const Visit& visit) const {
    std::size_t member = 0, left = 0;
    bool fresh = true;
    const auto next_member = [&] {
      while (member < counts_.size() && left == 0) {
        left = static_cast<std::size_t>(std::max(0LL, counts_[member]));
        fresh = true;
        if (left == 0) ++member;
      }
    };
    std::vector<double> row(formula_.values.size());
    for (std::size_t first = 0; first < rows_; first += rows_read) {
      const std::size_t count = std::min(rows_read, rows_ - first);
      std::vector<std::vector<double>> columns;
      for (const NamedExpr& value : formula_.values)
        columns.push_back(file_.numbers(formula_.name + "_" + value.name, first, count));
      for (std::size_t k = 0; k < count; ++k) {
        next_member();
        for (std::size_t c = 0; c < row.size(); ++c) row[c] = columns[c][k];
        visit(member, row, fresh);
        fresh = false;
        if (--left == 0) ++member;
      }
    }
  }

 private:
  const NetcdfSource& file_;
  const RecordFormula& formula_;
  std::vector<long long> counts_, numbers_;
  std::size_t rows_ = 0;
};

std::vector<ValueRange> ranges_of(const RecordOfFile& record, std::size_t values) {
  std::vector<ValueRange> ranges(values);
  record.each_row([&](std::size_t, const std::vector<double>& row, bool) {
    for (std::size_t c = 0; c < values; ++c) ranges[c].include(row[c]);
  });
  for (ValueRange& range : ranges) range.widen();
  return ranges;
}

// One sweep: the values of a record by the points, as densities by column.
ReportJson diagrams(const Study& study, const RecordFormula& formula, const RecordOfFile& record,
                    const std::vector<ValueRange>& ranges) {
  if (study.sweeps.size() != 1) return nullptr;
  const std::vector<double>& swept = study.sweeps[0].values;
  const std::size_t columns = std::min(diagram_columns, swept.size());
  ReportJson made = ReportJson::array();
  for (std::size_t c = 0; c < formula.values.size(); ++c) {
    Density density(columns, diagram_rows);
    record.each_row([&](std::size_t member, const std::vector<double>& row, bool) {
      const auto point = static_cast<std::size_t>(study.ensemble.point_of(record.number(member)));
      density.add(point * columns / swept.size(), ranges[c].bin(row[c], diagram_rows));
    });
    ReportJson one = density.json({rounded(swept.front()), rounded(swept.back())}, ranges[c]);
    one["value"] = formula.values[c].name;
    one["against"] = study.sweeps[0].name;
    one["log"] = study.sweeps[0].logarithmic;
    made.push_back(one);
  }
  return made;
}

// Two values against each other, and the first value against the one before it.
ReportJson section_of(const RecordFormula& formula, const RecordOfFile& record,
                      const std::vector<ValueRange>& ranges) {
  if (formula.values.size() < 2) return nullptr;
  Density density(section_columns, section_rows);
  record.each_row([&](std::size_t, const std::vector<double>& row, bool) {
    density.add(ranges[0].bin(row[0], section_columns), ranges[1].bin(row[1], section_rows));
  });
  return density.json({rounded(ranges[0].low), rounded(ranges[0].high)}, ranges[1]);
}

ReportJson return_map(const RecordOfFile& record, const ValueRange& range) {
  Density density(section_columns, section_rows);
  double before = 0;
  record.each_row([&](std::size_t, const std::vector<double>& row, bool first) {
    if (!first) density.add(range.bin(before, section_columns), range.bin(row[0], section_rows));
    before = row[0];
  });
  return density.json({rounded(range.low), rounded(range.high)}, range);
}

}  // namespace

ReportJson report_records(const ReportSource& source) {
  const std::filesystem::path path = source.folder / "records.nc";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return nullptr;
  const NetcdfSource file(path);
  ReportJson made = ReportJson::array();
  for (const RecordFormula& formula : source.study.system->records) {
    const RecordOfFile record(file, formula);
    ReportJson one = {{"name", formula.name}, {"rows", record.rows()}, {"members", record.counts().size()}};
    ReportJson names = ReportJson::array();
    for (const NamedExpr& value : formula.values) names.push_back(value.name);
    one["values"] = names;
    if (record.rows() > 0) {
      const std::vector<ValueRange> ranges = ranges_of(record, formula.values.size());
      one["diagrams"] = diagrams(source.study, formula, record, ranges);
      one["section"] = section_of(formula, record, ranges);
      one["map"] = return_map(record, ranges[0]);
    }
    made.push_back(one);
  }
  return made;
}

}  // namespace zwang
