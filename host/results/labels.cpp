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
#include "host/study/label_formulas.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
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
  for (std::size_t i = 0; i < system.reductions.size(); ++i) {
    const ReductionFormula& formula = system.reductions[i];
    if (formula.reduction != Reduction::record_label) continue;
    const std::vector<double> parameters = nominal_member(study).parameters;
    numbered_.push_back(
        {.reduction = i,
         .record = formula.target,
         .tolerance = Program(*system.pool, {formula.value}).run<double>({.parameters = parameters}).front(),
         .labels = {}});
  }
  for (std::size_t i = 0; i < system.measures.size(); ++i) {
    const auto only = only_reduction(*system.pool, system.measures[i]);
    if (only && system.reductions[*only].reduction == Reduction::record_label) alone_.push_back({i});
  }
  find_values();
}

// The study file adds a flag for every other reduction and parameter in a formula with a label.
void Labels::find_values() {
  const System& system = *study_.system;
  const std::vector<Expr> formulas = system.member_value_formulas();
  std::vector<Expr> with_labels;
  for (std::size_t i = 0; i < formulas.size(); ++i)
    if (uses_label(*system.pool, system.reductions, formulas[i])) {
      values_.push_back(i);
      with_labels.push_back(formulas[i]);
    }
  if (with_labels.empty()) return;
  formulas_ = Program(*system.pool, with_labels);
  for (const Symbol& symbol : system.pool->symbols(with_labels))
    for (std::size_t i = system.measures.size(); i < formulas.size(); ++i) {
      const Node& node = system.pool->node(formulas[i]);
      if (node.op != Op::symbol || node.symbol != symbol) continue;
      held_.emplace_back(symbol, i);
      break;
    }
}

void Labels::decide(const ReadMembers& read) {
  std::vector<Attractors> attractors;
  for (Numbered& one : numbered_) {
    attractors.emplace_back(one.tolerance);
    one.labels.clear();
  }
  read([&](long long, std::span<const char> records) {
    for (std::size_t at = 0; at < records.size(); at += layout_.bytes())
      for (std::size_t m = 0; m < numbered_.size(); ++m) {
        const char* numbers = records.data() + at + 8 * layout_.recorded_place();
        for (std::size_t i = 0; i < numbered_[m].record; ++i) numbers += 8 * study_.system->records[i].room();
        const RecordedRows recorded(study_.system->records[numbered_[m].record], numbers);
        numbered_[m].labels.push_back(attractors[m].label_of(rows_of(recorded)));
      }
  });
}

// `scratch`: reductions, then parameters.
void Labels::enter(std::size_t member, std::vector<double>& scratch, char* record) const {
  const std::size_t reductions = study_.system->reductions.size();
  scratch.assign(reductions + study_.parameters.size(), std::numeric_limits<double>::quiet_NaN());
  const int values = layout_.places().measures;
  for (const auto& [symbol, place] : held_)
    scratch[symbol.kind == SymbolKind::reduction ? symbol.index : reductions + symbol.index] =
        MemberRecordLayout::real(record, values + static_cast<int>(place));
  for (const Numbered& one : numbered_)
    if (one.labels[member] != no_label) scratch[one.reduction] = one.labels[member];
  const std::span<const double> all = scratch;
  const std::vector<double> found =
      formulas_.run<double>({.parameters = all.subspan(reductions), .reductions = all.first(reductions)});
  for (std::size_t k = 0; k < values_.size(); ++k)
    std::memcpy(record + 8 * (static_cast<std::size_t>(values) + values_[k]), &found[k], sizeof found[k]);
}

ReadMembers Labels::entering(ReadMembers read) const {
  return [this, read = std::move(read)](const TakeMembers& take) {
    std::size_t member = 0;
    std::vector<char> changed;
    std::vector<double> scratch;
    read([&](long long first, std::span<const char> records) {
      changed.assign(records.begin(), records.end());
      for (std::size_t at = 0; at < changed.size(); at += layout_.bytes(), ++member)
        enter(member, scratch, changed.data() + at);
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
  for (const Alone& one : alone_)
    result.labels.push_back({.measure = study_.system->measures[one.measure].name,
                             .members = std::vector<long long>(most_labels + 2, 0),
                             .of = 0});
  // Members that are not there were left out by `until`.
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
      for (std::size_t m = 0; m < alone_.size() && entered[k] != 0; ++m) {
        const double label = measured[k * measures + alone_[m].measure];
        if (std::isnan(label)) continue;
        ++result.labels[m].members[static_cast<std::size_t>(label)];
        ++result.labels[m].of;
      }
    }
    if (first > statistics.position()) statistics.end_point(threads);
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
    for (std::size_t g = 0; g < to.givens.size(); ++g) {
      std::swap(to.givens[g].observables, points[p].givens[g].observables);
      to.givens[g] = std::move(points[p].givens[g]);
    }
    for (HistogramResult& histogram : points[p].histograms)
      for (HistogramResult& own : to.histograms)
        if (own.of_measure && own.index == histogram.index) own = histogram;
  }
}

}  // namespace zwang
