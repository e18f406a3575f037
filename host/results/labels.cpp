#include "host/results/labels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "host/backend/record_rows.h"
#include "host/run/count_members.h"
#include "host/sample/sample.h"
#include "host/sample/sampler.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics_result.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/expression/evaluate.h"
#include "src/reference/records.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::uint8_t no_label = 255;
constexpr std::size_t most_labels = 64;

// One period of the states of an attractor.
using Cycle = std::vector<RecordRow>;

bool agree(const Cycle& a, const Cycle& b, double tolerance) {
  if (a.size() != b.size()) return false;
  const auto near = [&](const RecordRow& x, const RecordRow& y) {
    for (std::size_t c = 0; c < x.values.size(); ++c)
      if (!(std::abs(x.values[c] - y.values[c]) <= tolerance)) return false;
    return true;
  };
  for (std::size_t shift = 0; shift < a.size(); ++shift) {
    bool all = true;
    for (std::size_t i = 0; all && i < a.size(); ++i) all = near(a[i], b[(i + shift) % b.size()]);
    if (all) return true;
  }
  return false;
}

// The attractors met so far.
class Attractors {
 public:
  explicit Attractors(double tolerance) : tolerance_(tolerance) {}

  std::uint8_t label_of(const std::vector<RecordRow>& rows) {
    if (rows.size() < 3) return no_label;
    const std::size_t period = period_of(rows, tolerance_);
    if (period == 0) return 0;
    const Cycle cycle(rows.end() - static_cast<std::ptrdiff_t>(period), rows.end());
    for (std::size_t k = 0; k < cycles_.size(); ++k)
      if (agree(cycles_[k], cycle, tolerance_)) return static_cast<std::uint8_t>(k + 1);
    if (cycles_.size() == most_labels) return static_cast<std::uint8_t>(most_labels + 1);
    cycles_.push_back(cycle);
    return static_cast<std::uint8_t>(cycles_.size());
  }

 private:
  double tolerance_;
  std::vector<Cycle> cycles_;
};

std::vector<RecordRow> rows_of(const RecordedRows& recorded) {
  std::vector<RecordRow> rows(recorded.count());
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (std::size_t c = 0; c < recorded.values(); ++c) rows[k].values.push_back(recorded.value(k, c));
  return rows;
}

}  // namespace

Labels::Labels(const Study& study) : study_(study), layout_(study, drawn_inputs(study)) {
  const System& system = *study.system;
  for (std::size_t i = 0; i < system.measures.size(); ++i) {
    const auto only = only_reduction(*system.pool, system.measures[i]);
    if (!only || system.reductions[*only].reduction != Reduction::record_label) continue;
    const ReductionFormula& formula = system.reductions[*only];
    const std::vector<double> parameters = nominal_member(study).parameters;
    measures_.push_back(
        {.measure = i,
         .record = formula.target,
         .tolerance = Program(*system.pool, {formula.value}).run<double>({.parameters = parameters}).front(),
         .labels = {}});
  }
}

void Labels::decide(const ReadMembers& read) {
  std::vector<Attractors> attractors;
  for (LabelMeasure& one : measures_) {
    attractors.emplace_back(one.tolerance);
    one.labels.clear();
  }
  read([&](long long, std::span<const char> records) {
    for (std::size_t at = 0; at < records.size(); at += layout_.bytes())
      for (std::size_t m = 0; m < measures_.size(); ++m) {
        const char* numbers = records.data() + at + 8 * layout_.recorded_place();
        for (std::size_t i = 0; i < measures_[m].record; ++i) numbers += 8 * study_.system->records[i].room();
        const RecordedRows recorded(study_.system->records[measures_[m].record], numbers);
        measures_[m].labels.push_back(attractors[m].label_of(rows_of(recorded)));
      }
  });
}

ReadMembers Labels::entering(ReadMembers read) const {
  return [this, read = std::move(read)](const TakeMembers& take) {
    std::size_t member = 0;
    std::vector<char> changed;
    read([&](long long first, std::span<const char> records) {
      changed.assign(records.begin(), records.end());
      for (std::size_t at = 0; at < changed.size(); at += layout_.bytes(), ++member)
        for (const LabelMeasure& one : measures_) {
          const std::uint8_t label = one.labels[member];
          const double value = label == no_label ? std::numeric_limits<double>::quiet_NaN() : label;
          const std::size_t place = static_cast<std::size_t>(layout_.places().measures) + one.measure;
          std::memcpy(changed.data() + at + 8 * place, &value, sizeof value);
        }
      take(first, changed);
    });
  };
}

// Observables do not depend on labels: their results stay.
void Labels::complete(const EnsemblePlan& plan, const ReadMembers& read, unsigned threads,
                      RunResult& result) const {
  EnsemblePlan repeated = plan;
  repeated.point.outputs = 0;
  repeated.point.pick_freeze.reset();
  std::erase_if(repeated.point.histograms, [](const HistogramPlan& one) { return !one.of_measure; });
  const std::size_t measures = study_.system->member_values(), inputs = plan.point.inputs;
  EnsembleStatistics statistics(repeated);
  for (const LabelMeasure& one : measures_)
    result.labels.push_back({.measure = study_.system->measures[one.measure].name,
                             .members = std::vector<long long>(most_labels + 2, 0),
                             .of = 0});
  read([&](long long first, std::span<const char> records) {
    const std::size_t count = records.size() / layout_.bytes();
    std::vector<char> entered(count);
    std::vector<int> failed(count);
    std::vector<double> measured(count * measures), drawn(count * inputs);
    for (std::size_t k = 0; k < count; ++k) {
      const char* record = records.data() + k * layout_.bytes();
      const auto status = static_cast<Status>(MemberRecordLayout::whole(record, layout_.places().status));
      const long long member = first + static_cast<long long>(k);
      entered[k] = enters(study_.ensemble, member, status) ? 1 : 0;
      failed[k] = failed_at_end(status) ? 1 : 0;
      for (std::size_t i = 0; i < measures; ++i)
        measured[k * measures + i] =
            MemberRecordLayout::real(record, layout_.places().measures + static_cast<int>(i));
      for (std::size_t i = 0; i < inputs; ++i)
        drawn[k * inputs + i] =
            MemberRecordLayout::real(record, layout_.places().inputs + static_cast<int>(i));
      for (std::size_t m = 0; m < measures_.size() && entered[k] != 0; ++m) {
        const double label = measured[k * measures + measures_[m].measure];
        if (std::isnan(label)) continue;
        ++result.labels[m].members[static_cast<std::size_t>(label)];
        ++result.labels[m].of;
      }
    }
    statistics.add({.first = first,
                    .entered = entered,
                    .observables = {},
                    .measures = measured,
                    .inputs = drawn,
                    .failed = failed},
                   threads);
  });
  std::vector<StatisticsResult> points = statistics.finish(threads);
  for (std::size_t p = 0; p < points.size(); ++p) {
    StatisticsResult& to = study_.sweeps.empty() ? result.statistics : result.points[p];
    to.measures = std::move(points[p].measures);
    to.covariance = std::move(points[p].covariance);
    to.rank_correlation = std::move(points[p].rank_correlation);
    to.exceedances = std::move(points[p].exceedances);
    to.first_order = std::move(points[p].first_order);
    for (std::size_t g = 0; g < to.givens.size(); ++g) to.givens[g].measures = points[p].givens[g].measures;
    for (HistogramResult& histogram : points[p].histograms)
      for (HistogramResult& own : to.histograms)
        if (own.of_measure && own.index == histogram.index) own = histogram;
  }
}

}  // namespace zwang
