#include "host/results/record_histograms.h"

#include <optional>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/backend/record_rows.h"
#include "host/estimators/histogram.h"
#include "host/run/count_members.h"
#include "host/sample/sampler.h"
#include "kernels/base/status.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A value of a record that is counted.
struct PooledValue {
  std::size_t record = 0, column = 0, offset = 0;  // offset of the record among the numbers of a member
  HistogramSettings settings;
  std::optional<Range> found;  // of all values, if the range is automatic
  std::vector<Histogram> by_point;
};

std::vector<PooledValue> pooled_values(const Study& study, RunResult& result) {
  std::vector<PooledValue> made;
  std::size_t offset = 0;
  const auto& records = study.system->records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (std::size_t c = 0; c < records[i].values.size(); ++c) {
      const std::string name = records[i].name + "." + records[i].values[c].name;
      const auto wanted = study.statistics.record_histograms.find(name);
      if (wanted == study.statistics.record_histograms.end()) continue;
      made.push_back({.record = i,
                      .column = c,
                      .offset = offset,
                      .settings = wanted->second,
                      .found = {},
                      .by_point = {}});
      result.record_histograms.push_back({.name = name, .edges = {}, .points = {}});
    }
    offset += records[i].room();
  }
  return made;
}

}  // namespace

void pool_records(const Study& study, const ReadMembers& read, RunResult& result) {
  std::vector<PooledValue> pooled = pooled_values(study, result);
  if (pooled.empty()) return;
  const MemberRecordLayout layout(study, drawn_inputs(study));
  // Visits every value of every member that entered.
  const auto each = [&](const auto& visit) {
    read([&](long long first, std::span<const char> members) {
      for (std::size_t at = 0; at < members.size(); at += layout.bytes()) {
        const char* member = members.data() + at;
        const long long number = first + static_cast<long long>(at / layout.bytes());
        const auto status = static_cast<Status>(MemberRecordLayout::whole(member, layout.places().status));
        if (!enters(study.ensemble, number, status)) continue;
        for (PooledValue& value : pooled) {
          const char* numbers =
              member + 8 * (static_cast<std::size_t>(layout.recorded_place()) + value.offset);
          const RecordedRows rows(study.system->records[value.record], numbers);
          for (std::size_t k = 0; k < rows.count(); ++k)
            visit(value, study.ensemble.point_of(number), rows.value(k, value.column));
        }
      }
    });
  };
  each([](PooledValue& value, long long, double x) {
    if (!value.settings.range) value.found = joined_range(value.found, finite_range(std::span(&x, 1)));
  });
  for (PooledValue& value : pooled) {
    const Range range = value.settings.range
                            ? Range{value.settings.range->first, value.settings.range->second}
                            : histogram_range(value.found, 0);
    value.by_point.assign(static_cast<std::size_t>(study.ensemble.points()),
                          Histogram(range.low, range.high, static_cast<std::size_t>(value.settings.bins)));
  }
  each([](PooledValue& value, long long point, double x) {
    value.by_point[static_cast<std::size_t>(point)].add(x);
  });
  for (std::size_t k = 0; k < pooled.size(); ++k) {
    result.record_histograms[k].edges = pooled[k].by_point.front().edges();
    for (const Histogram& histogram : pooled[k].by_point)
      result.record_histograms[k].points.push_back(
          {histogram.counts(), histogram.below(), histogram.above()});
  }
}

}  // namespace zwang
