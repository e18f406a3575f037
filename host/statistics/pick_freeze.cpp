#include "host/statistics/pick_freeze.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "host/estimators/moments.h"
#include "host/estimators/nan.h"

namespace zwang {

namespace {

void add_row(PairSums& sums, double a, double b) {
  const double s = a + b, q = a * a + b * b;
  ++sums.rows;
  sums.s += s;
  sums.q += q;
  sums.ss += s * s;
  sums.qs += q * s;
  sums.qq += q * q;
}

void add_row(InputSums& sums, double a, double b, double e) {
  const double ee = e * e;
  sums.e += e;
  sums.ea += e * a;
  sums.eb += e * b;
  sums.eaa += e * a * a;
  sums.eab += e * a * b;
  sums.ebb += e * b * b;
  sums.eaab += e * a * a * b;
  sums.ebbb += e * b * b * b;
  sums.ee += ee;
  sums.eeb += ee * b;
  sums.eebb += ee * b * b;
  sums.ees += ee * (a + b);
  sums.eeq += ee * (a * a + b * b);
  sums.eeee += ee * ee;
}

// The sums relative to another pivot: a and b grow by d = old pivot - new pivot, e does not change.
//   s' = s + 2d,  q' = q + 2ds + 2d^2
PairSums moved(const PairSums& x, double pivot) {
  const double d = x.pivot - pivot, d2 = d * d, n = double(x.rows);
  PairSums made{x.rows, pivot};
  made.s = x.s + 2 * d * n;
  made.q = x.q + 2 * d * x.s + 2 * d2 * n;
  made.ss = x.ss + 4 * d * x.s + 4 * d2 * n;
  // q's' = qs + 2d q + 2d s^2 + 4d^2 s + 2d^2 s + 4d^3
  made.qs = x.qs + 2 * d * x.q + 2 * d * x.ss + 6 * d2 * x.s + 4 * d2 * d * n;
  // q'^2 = q^2 + 4d^2 s^2 + 4d^4 + 4d qs + 4d^2 q + 8d^3 s
  made.qq = x.qq + 4 * d2 * x.ss + 4 * d2 * d2 * n + 4 * d * x.qs + 4 * d2 * x.q + 8 * d2 * d * x.s;
  return made;
}

InputSums moved(const InputSums& x, double d) {
  const double d2 = d * d, d3 = d2 * d;
  InputSums made = x;  // e, ee and eeee stay
  made.ea = x.ea + d * x.e;
  made.eb = x.eb + d * x.e;
  made.eaa = x.eaa + 2 * d * x.ea + d2 * x.e;
  made.eab = x.eab + d * (x.ea + x.eb) + d2 * x.e;
  made.ebb = x.ebb + 2 * d * x.eb + d2 * x.e;
  // (a + d)^2 (b + d)
  made.eaab = x.eaab + d * x.eaa + 2 * d * x.eab + 2 * d2 * x.ea + d2 * x.eb + d3 * x.e;
  made.ebbb = x.ebbb + 3 * d * x.ebb + 3 * d2 * x.eb + d3 * x.e;
  made.eeb = x.eeb + d * x.ee;
  made.eebb = x.eebb + 2 * d * x.eeb + d2 * x.ee;
  made.ees = x.ees + 2 * d * x.ee;
  made.eeq = x.eeq + 2 * d * x.ees + 2 * d2 * x.ee;
  return made;
}

template <class Sums, class Action>
void each_number(Sums& x, const Action& action) {
  for (auto* number : {&x.e, &x.ea, &x.eb, &x.eaa, &x.eab, &x.ebb, &x.eaab, &x.ebbb, &x.ee, &x.eeb, &x.eebb,
                       &x.ees, &x.eeq, &x.eeee})
    action(*number);
}

void add_to(InputSums& sum, const InputSums& next) {
  std::vector<double> numbers;
  each_number(next, [&](double number) { numbers.push_back(number); });
  std::size_t k = 0;
  each_number(sum, [&](double& number) { number += numbers[k++]; });
}

void add_to(PairSums& sum, const PairSums& next) {
  sum.rows += next.rows;
  sum.s += next.s;
  sum.q += next.q;
  sum.ss += next.ss;
  sum.qs += next.qs;
  sum.qq += next.qq;
}

MeasureSums moved(const MeasureSums& x, double pivot) {
  MeasureSums made = x;
  made.pair = moved(x.pair, pivot);
  for (InputSums& input : made.inputs) input = moved(input, x.pair.pivot - pivot);
  return made;
}

MeasureSums merged_measure(const MeasureSums& left, const MeasureSums& right) {
  const double nl = double(left.pair.rows), nr = double(right.pair.rows);
  MeasureSums sum = left;
  if (left.pair.rows == 0) {
    sum = right;
  } else if (right.pair.rows > 0) {
    const double pivot = left.pair.pivot + (right.pair.pivot - left.pair.pivot) * (nr / (nl + nr));
    sum = moved(left, pivot);
    const MeasureSums other = moved(right, pivot);
    add_to(sum.pair, other.pair);
    for (std::size_t i = 0; i < sum.inputs.size(); ++i) add_to(sum.inputs[i], other.inputs[i]);
  }
  sum.failed = left.failed + right.failed;
  sum.missing = left.missing + right.missing;
  return sum;
}

// var(u - I w) with divisor N - 1, from sums over rows.
double residual_variance(double n, double index, double u, double uu, double uw, double w, double ww) {
  const double sum = u - index * w, squares = uu - 2 * index * uw + index * index * ww;
  return std::max((squares - sum * sum / n) / (n - 1), 0.0);
}

}  // namespace

PickFreezeSums merged_sums(const PickFreezeSums& left, const PickFreezeSums& right) {
  PickFreezeSums made;
  for (std::size_t m = 0; m < left.size(); ++m) made.push_back(merged_measure(left[m], right[m]));
  return made;
}

MeasureSums sums_of_rows(std::span<const double> rows, std::size_t inputs, std::span<const char> usable) {
  const std::size_t blocks = inputs + 2;
  MeasureSums made;
  made.inputs.resize(inputs + 1);
  double sum = 0;
  long long count = 0;
  for (std::size_t row = 0; row < usable.size(); ++row) {
    if (usable[row] == 0) continue;
    sum += rows[row * blocks] + rows[row * blocks + 1];
    count += 2;
  }
  made.pair.pivot = count > 0 ? sum / double(count) : 0;
  for (std::size_t row = 0; row < usable.size(); ++row) {
    if (usable[row] == 0) continue;
    const std::span<const double> f = rows.subspan(row * blocks, blocks);
    const double a = f[0] - made.pair.pivot, b = f[1] - made.pair.pivot;
    add_row(made.pair, a, b);
    double all = 0;
    for (std::size_t i = 0; i < inputs; ++i) {
      const double e = f[i + 2] - f[0];
      add_row(made.inputs[i], a, b, e);
      all += e;
    }
    add_row(made.inputs[inputs], a, b, all);
  }
  return made;
}

// Relative to the mean m of all values: u = b e (first order), e^2/2 (total), w = (a^2 + b^2)/2.
PickFreezeResult indices_of(const MeasureSums& sums) {
  PickFreezeResult made;
  made.rows = sums.pair.rows;
  made.failed = sums.failed;
  made.missing = sums.missing;
  const double n = double(made.rows);
  const double mean = made.rows > 0 ? sums.pair.pivot + sums.pair.s / (2 * n) : 0;
  const MeasureSums x = moved(sums, mean);
  made.variance = made.rows > 0 ? x.pair.q / (2 * n - 1) : nan;
  const double w = x.pair.q / 2, ww = x.pair.qq / 4, v = made.variance;
  const bool constant = !(v > 0) || made.rows < 2;
  const auto error = [&](double index, double u, double uu, double uw) {
    return std::sqrt(residual_variance(n, index, u, uu, uw, w, ww) / n) / v;
  };
  for (const InputSums& of : x.inputs) {
    SobolIndex one{nan, nan, nan, nan};
    if (!constant) {
      one.first = of.eb / n / v;
      one.first_stderr = error(one.first, of.eb, of.eebb, (of.eaab + of.ebbb) / 2);
      one.total = of.ee / n / (2 * v);
      one.total_stderr = error(one.total, of.ee / 2, of.eeee / 4, of.eeq / 4);
    }
    made.inputs.push_back(one);
  }
  const SobolIndex all = made.inputs.back();
  made.inputs.pop_back();
  made.interaction = 1 - all.first;
  made.interaction_stderr = all.first_stderr;
  return made;
}

PickFreeze::PickFreeze(std::size_t measures, std::size_t inputs, long long first_row)
    : measures_(measures), inputs_(inputs), block_(first_row / block_members) {}

PickFreezeSums PickFreeze::sums_of_open_rows() const {
  const std::size_t rows = open_whole_.size();
  PickFreezeSums made;
  for (std::size_t m = 0; m < measures_; ++m) {
    std::vector<double> values(rows * blocks());
    std::vector<char> usable = open_whole_;
    long long failed = 0, missing = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      bool finite = true;
      for (std::size_t b = 0; b < blocks(); ++b) {
        const double x = open_[(row * blocks() + b) * measures_ + m];
        values[row * blocks() + b] = x;
        finite = finite && std::isfinite(x);
      }
      failed += usable[row] == 0 ? 1 : 0;
      missing += usable[row] != 0 && !finite ? 1 : 0;
      usable[row] = usable[row] != 0 && finite ? 1 : 0;
    }
    made.push_back(sums_of_rows(values, inputs_, usable));
    made.back().failed = failed;
    made.back().missing = missing;
  }
  return made;
}

void PickFreeze::add(std::span<const double> values, std::span<const char> whole) {
  const std::size_t width = blocks() * measures_;
  for (std::size_t row = 0; row < whole.size(); ++row) {
    const std::span<const double> from = values.subspan(row * width, width);
    open_.insert(open_.end(), from.begin(), from.end());
    open_whole_.push_back(whole[row]);
    if (open_whole_.size() < block_members) continue;
    tree_.push({0, block_, sums_of_open_rows()});
    open_.clear();
    open_whole_.clear();
    ++block_;
  }
}

void PickFreeze::join(const PickFreeze& next) {
  for (const auto& node : next.tree_.nodes()) tree_.push(node);
  block_ = next.block_;
  open_ = next.open_;
  open_whole_ = next.open_whole_;
}

std::vector<PickFreezeResult> PickFreeze::results() const {
  auto tree = tree_;
  if (!open_whole_.empty()) tree.push({0, block_, sums_of_open_rows()});
  PickFreezeSums none(measures_);
  for (MeasureSums& of : none) of.inputs.resize(inputs_ + 1);
  std::vector<PickFreezeResult> made;
  for (const MeasureSums& sums : tree.folded(none)) made.push_back(indices_of(sums));
  return made;
}

// --- Bytes -------------------------------------------------------------------------------------------------

void PickFreeze::save(ByteWriter& bytes) const {
  bytes.number<std::uint64_t>(tree_.nodes().size());
  for (const auto& node : tree_.nodes()) {
    bytes.number<std::int32_t>(node.level);
    bytes.number(node.number);
    for (const MeasureSums& of : node.value) {
      for (const long long count : {of.pair.rows, of.failed, of.missing}) bytes.number(count);
      for (const double sum : {of.pair.pivot, of.pair.s, of.pair.q, of.pair.ss, of.pair.qs, of.pair.qq})
        bytes.number(sum);
      for (const InputSums& input : of.inputs)
        each_number(input, [&](double number) { bytes.number(number); });
    }
  }
  bytes.number<std::uint64_t>(open_whole_.size());
  bytes.numbers(open_);
  bytes.numbers(open_whole_);
}

void PickFreeze::load(ByteReader& bytes, long long rows) {
  const long long first = block_;
  const std::uint64_t nodes = bytes.length(128);
  for (std::uint64_t k = 0; k < nodes; ++k) {
    const auto level = bytes.number<std::int32_t>();
    const auto number = bytes.number<long long>();
    if (level < 0 || level > 50 || number != block_ >> level || number << level != block_)
      bytes.refuse("a tree with gaps", "blocks without gaps");
    const long long most = (1LL << level) * block_members;
    PickFreezeSums sums(measures_);
    for (MeasureSums& of : sums) {
      long long left = most;
      for (long long* count : {&of.pair.rows, &of.failed, &of.missing}) {
        *count = bytes.number<long long>();
        bytes.require_count(*count, left);
        left -= *count;
      }
      for (double* sum : {&of.pair.pivot, &of.pair.s, &of.pair.q, &of.pair.ss, &of.pair.qs, &of.pair.qq})
        *sum = bytes.number<double>();
      of.inputs.resize(inputs_ + 1);
      for (InputSums& input : of.inputs)
        each_number(input, [&](double& value) { value = bytes.number<double>(); });
    }
    block_ = (number + 1) << level;
    tree_.push({level, number, std::move(sums)});
  }
  const std::size_t open = bytes.length(block_members - 1), width = blocks() * measures_;
  bytes.numbers(open_, open * width);
  bytes.numbers(open_whole_, open);
  if (open_.size() != open * width || open_whole_.size() != open ||
      (block_ - first) * block_members + static_cast<long long>(open) != rows)
    bytes.refuse("rows of other members", "rows of the same members");
}

void save_pick_freeze_result(ByteWriter& bytes, const PickFreezeResult& result) {
  for (const long long count : {result.rows, result.failed, result.missing}) bytes.number(count);
  for (const double number : {result.interaction, result.interaction_stderr, result.variance})
    bytes.number(number);
  for (const SobolIndex& one : result.inputs)
    for (const double number : {one.first, one.first_stderr, one.total, one.total_stderr})
      bytes.number(number);
}

PickFreezeResult load_pick_freeze_result(ByteReader& bytes, std::size_t inputs, long long rows) {
  PickFreezeResult made;
  for (long long* count : {&made.rows, &made.failed, &made.missing}) {
    *count = bytes.number<long long>();
    bytes.require_count(*count, rows);
    rows -= *count;
  }
  for (double* number : {&made.interaction, &made.interaction_stderr, &made.variance})
    *number = bytes.number<double>();
  made.inputs.resize(inputs);
  for (SobolIndex& one : made.inputs)
    for (double* number : {&one.first, &one.first_stderr, &one.total, &one.total_stderr})
      *number = bytes.number<double>();
  return made;
}

}  // namespace zwang
