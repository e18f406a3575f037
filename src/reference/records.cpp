#include "src/reference/records.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/reference/motion_formulas.h"

namespace zwang {

namespace {

constexpr double never_again = std::numeric_limits<double>::infinity();
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding_of_times = 1e-12;  // relative: times closer than this are one

bool is_asked_for(const RecordFormula& record, const Event& event) {
  const auto among = [&](const std::vector<std::size_t>& list) {
    return std::find(list.begin(), list.end(), record.target) != list.end();
  };
  switch (record.pattern) {
    case EventPattern::shock: {
      if (!event.velocities_jump || event.kind == EventKind::accumulation) return false;
      const auto it = std::find(event.constraints.begin(), event.constraints.end(), record.target);
      const auto k = static_cast<std::size_t>(it - event.constraints.begin());
      return k < event.impulses.size() && event.impulses[k] != 0;
    }
    case EventPattern::release:
      return event.kind == EventKind::release && among(event.constraints);
    case EventPattern::contact:
      return (event.kind == EventKind::contact || event.kind == EventKind::touch) && among(event.constraints);
    case EventPattern::accumulation:
      return event.kind == EventKind::accumulation && among(event.constraints);
    case EventPattern::watched:
      return event.kind == EventKind::event && event.watch == record.target;
    default:
      return mode_event(record.pattern) == event.kind && among(event.constraints);
  }
}

}  // namespace

Records::Records(const Equations& equations) : equations_(&equations) {
  const System& system = equations.system();
  for (const RecordFormula& record : system.records) {
    std::vector<Expr> values;
    for (const NamedExpr& value : record.values) values.push_back(value.value);
    settings_.push_back({.every = parameter_value(equations, record.every),
                         .phase = parameter_value(equations, record.phase),
                         .from = parameter_value(equations, record.from),
                         .next = 0,
                         .skipped = 0,
                         .values = Program(*system.pool, values)});
  }
  made_.resize(system.records.size());
}

double Records::time_of(std::size_t i) const {
  return static_cast<double>(settings_[i].next) * settings_[i].every + settings_[i].phase;
}

// The first time that is not before `from` nor before the start, but for rounding; then `skip` of them are
// left out.
std::string Records::start(double t) {
  const auto& records = equations_->system().records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].periodic()) continue;
    Setting& setting = settings_[i];
    if (!(setting.every > 0) || !std::isfinite(setting.every) || !std::isfinite(setting.phase))
      return "record " + records[i].name + ": every = " + number_text(setting.every) +
             (std::isfinite(setting.phase) ? "" : ", phase = " + number_text(setting.phase));
    const double from = std::max({setting.from, t, 0.0});
    const double first = std::max(std::floor((from - setting.phase) / setting.every) - 1, 0.0);
    setting.next = first < 0x1p60 ? static_cast<long long>(first) : 1LL << 60;
    while (time_of(i) < from - rounding_of_times * std::max(from, setting.every)) ++setting.next;
    setting.next += records[i].skip;
  }
  return "";
}

double Records::next_time() const {
  double first = never_again;
  const auto& records = equations_->system().records;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (records[i].periodic()) first = std::min(first, time_of(i));
  return first;
}

void Records::keep(std::size_t i, double t, long long occurrence, const Moment& moment) {
  const RecordFormula& record = equations_->system().records[i];
  MemberRecord& made = made_[i];
  ++made.total;
  const auto most = static_cast<std::size_t>(record.most);
  if (made.rows.size() == most) {
    if (!record.keep_last) return;
    made.rows.erase(made.rows.begin());
  }
  RecordRow row{t, occurrence, std::vector<double>(record.values.size())};
  equations_->evaluate(settings_[i].values, moment.state,
                       {moment.multipliers.data(), static_cast<std::size_t>(moment.multipliers.size())},
                       moment.closed, row.values);
  made.rows.push_back(std::move(row));
}

void Records::note_time(double when, const Moment& moment) {
  const auto& records = equations_->system().records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!records[i].periodic() || time_of(i) > when) continue;
    const double t = time_of(i);
    const long long occurrence = settings_[i].next++;
    made_[i].occurrences = occurrence + 1;
    keep(i, t, occurrence, moment);
  }
}

void Records::note_event(const Event& event, const Moment& after) {
  const auto& records = equations_->system().records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!is_asked_for(records[i], event)) continue;
    Setting& setting = settings_[i];
    const long long occurrence = made_[i].occurrences++;
    if (event.t < setting.from - rounding_of_times * std::abs(setting.from)) continue;
    if (setting.skipped < records[i].skip) {
      ++setting.skipped;
      continue;
    }
    State state = after.state;
    if (records[i].before && event.velocities_jump) state.v = event.velocity_before;
    keep(i, event.t, occurrence, {state, after.multipliers, after.closed});
  }
}

double Records::reduced(const ReductionFormula& formula, double tolerance) const {
  const std::vector<RecordRow>& rows = made_[formula.target].rows;
  if (formula.reduction == Reduction::record_count) return static_cast<double>(rows.size());
  if (formula.reduction == Reduction::record_period)
    return rows.size() < 3 ? no_value : static_cast<double>(period_of(rows, tolerance));
  if (formula.reduction == Reduction::record_label || rows.empty()) return no_value;
  std::vector<double> values;
  for (const RecordRow& row : rows) values.push_back(row.values[formula.column]);
  double mean = 0, squares = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double off = values[k] - mean;
    mean += off / static_cast<double>(k + 1);
    squares += off * (values[k] - mean);
  }
  switch (formula.reduction) {
    case Reduction::record_first:
      return values.front();
    case Reduction::record_last:
      return values.back();
    case Reduction::record_minimum:
      return *std::min_element(values.begin(), values.end());
    case Reduction::record_maximum:
      return *std::max_element(values.begin(), values.end());
    case Reduction::record_mean:
      return mean;
    default:
      return values.size() < 2 ? no_value : std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
}

std::size_t period_of(const std::vector<RecordRow>& rows, double tolerance) {
  const auto near = [&](const RecordRow& a, const RecordRow& b) {
    for (std::size_t c = 0; c < a.values.size(); ++c)
      if (!(std::abs(a.values[c] - b.values[c]) <= tolerance)) return false;
    return true;
  };
  for (std::size_t p = 1; p <= rows.size() / 3; ++p) {
    bool repeats = true;
    for (std::size_t i = 0; repeats && i + p < rows.size(); ++i) repeats = near(rows[i + p], rows[i]);
    if (repeats) return p;
  }
  return 0;
}

}  // namespace zwang
