// Reads [[joint]]: named parameters with a joint normal distribution.
#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <cstdio>

#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"

namespace zwang {

namespace {

constexpr std::size_t joint_limit = 64;

std::string rounded(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", x);
  return text.data();
}

}  // namespace

// Reads names and sizes of the joints before any formula is read, because their names must be known early.
void StudyBuilder::draft_joints() {
  std::size_t number = 0;
  for (Field entry : naming_entries("joint")) {
    entry.place = "joint number " + std::to_string(++number);
    const Table table(reader_, entry, {"names", "mean", "covariance"});
    JointDraft draft;
    draft.entry = entry;
    const Field names = table.require("names", "the names of the parameters"),
                mean = table.require("mean", "one mean for each name"),
                covariance = table.require("covariance", "a square matrix, as an array of rows");
    const auto name_list = names ? reader_.array(names, "an array of names in quotes") : std::nullopt;
    bool all_named = name_list.has_value();
    for (const Field& name : name_list.value_or(std::vector<Field>{})) {
      const auto text = reader_.string(name, "a name in quotes");
      all_named = all_named && text;
      if (!text) continue;
      draft.names.push_back(*text);
      draft.name_marks.push_back(name.value->mark);
    }
    if (!all_named) names_.lost = true;
    const std::size_t size = draft.names.size();
    const auto sized = [&](const Field& field, const std::string& expected) -> std::vector<Field> {
      auto items = field ? reader_.array(field, expected) : std::nullopt;
      if (!items) return {};
      if (items->size() == size) return *items;
      reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), expected);
      return {};
    };
    const std::string count = std::to_string(size);
    if (all_named && (size == 0 || size > joint_limit)) {
      reader_.report_found(names, "wrong number of names", count,
                           "1 to " + std::to_string(joint_limit) + " names");
    } else if (all_named) {
      draft.mean = sized(mean, count + " numbers, one for each name");
      for (const Field& row : sized(covariance, count + " rows, one for each name"))
        draft.covariance.push_back(sized(row, count + " numbers, one for each name"));
    }
    for (const Field& item : draft.mean) draft.numbers_only = draft.numbers_only && item.value->is_number();
    for (const std::vector<Field>& row : draft.covariance)
      for (const Field& item : row) draft.numbers_only = draft.numbers_only && item.value->is_number();
    parameters_.joints.push_back(std::move(draft));
  }
}

void StudyBuilder::add_joint(const JointDraft& draft) {
  const std::size_t size = draft.names.size();
  Joint joint{.names = draft.names, .mean = {}, .covariance = {}};
  bool ok = size > 0 && draft.mean.size() == size && draft.covariance.size() == size;
  const auto read = [&](const Field& item) {
    const std::optional<Expr> made = formula(item, allow_parameters);
    ok = ok && made;
    return made.value_or(pool().zero());
  };
  for (const Field& item : draft.mean) joint.mean.push_back(read(item));
  for (const std::vector<Field>& row : draft.covariance) {
    std::vector<Expr> made;
    made.reserve(row.size());
    for (const Field& item : row) made.push_back(read(item));
    ok = ok && made.size() == size;
    joint.covariance.push_back(std::move(made));
  }
  ok = ok && check_covariance(draft, joint);
  for (std::size_t i = 0; i < size; ++i) {
    ParameterRule rule;
    rule.joint = study_.joints.size();
    rule.joint_component = i;
    define_parameter(draft.names[i], std::move(rule), {.state = ok ? State::drawn : State::broken});
  }
  study_.joints.push_back(std::move(joint));
}

bool StudyBuilder::check_covariance(const JointDraft& draft, const Joint& joint) {
  const auto n = static_cast<Eigen::Index>(joint.names.size());
  Eigen::MatrixXd C(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j) {
      const Evaluated entry =
          evaluate(joint.covariance[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
      if (entry.state != State::constant) return entry.state == State::drawn;
      C(i, j) = entry.value;
    }
  const Field field{&draft.entry.value->find("covariance")->value, draft.entry.place + ", covariance"};
  const auto report = [&](const std::string& message, const std::string& found, const std::string& expected) {
    reader_.report_found(field, message, found, expected);
    return false;
  };
  if (!C.allFinite()) return report("not finite", "", "finite numbers");
  // A covariance computed by another program carries rounding errors.
  const double tolerance = 1e-12 * C.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      if (std::abs(C(i, j) - C(j, i)) > tolerance)
        return report("not symmetric",
                      number_text(C(j, i)) + " in row " + std::to_string(j + 1) + ", " +
                          number_text(C(i, j)) + " in row " + std::to_string(i + 1),
                      "the covariance of '" + joint.names[static_cast<std::size_t>(j)] + "' and '" +
                          joint.names[static_cast<std::size_t>(i)] + "' the same in both rows");
  const double lowest =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(C, Eigen::EigenvaluesOnly).eigenvalues()(0);
  if (lowest < -tolerance * static_cast<double>(n))
    return report("not a covariance", "an eigenvalue of about " + rounded(lowest), "no negative eigenvalue");
  return true;
}

}  // namespace zwang
