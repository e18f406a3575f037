// Recognises links and walls in the constraints of a study.
#include "host/report/report_scene.h"

#include <algorithm>
#include <regex>

#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "host/study_file/document.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Expressions of t and one member's parameters.
class MemberFormulas {
 public:
  MemberFormulas(const Study& study, const std::vector<long long>& members) : study_(study) {
    const Sampler sampler(study);
    Sampler::Scratch scratch;
    for (const long long member : members) {
      PreparedMember made;
      sampler.prepare(static_cast<unsigned long long>(member), scratch, made);
      parameters_.push_back(made.inputs.parameters);
    }
  }

  double value(const Program& program, std::size_t member, double t) const {
    const Inputs<double> inputs{.time = t,
                                .parameters = parameters_[member],
                                .coordinates = zeros_,
                                .velocities = zeros_,
                                .auxiliaries = zeros_};
    return program.run<double>(inputs)[0];
  }

  // [member][time], or [member][one] if the expression does not depend on time.
  ReportJson table(Expr e, const std::vector<std::size_t>& times) const {
    const Program program(*study_.system->pool, {e});
    const bool moves = study_.system->pool->mentions(e, SymbolKind::time);
    ReportJson made = ReportJson::array();
    for (std::size_t m = 0; m < parameters_.size(); ++m) {
      std::vector<double> row;
      for (const std::size_t t : times) {
        row.push_back(value(program, m, study_.time.outputs[t]));
        if (!moves) break;
      }
      made.push_back(rounded(row));
    }
    return made;
  }

 private:
  const Study& study_;
  std::vector<std::vector<double>> parameters_;
  std::vector<double> zeros_ =
      std::vector<double>(std::max(study_.system->size(), study_.system->auxiliaries.size()) + 1, 0.0);
};

// The `require` text of a constraint in the study.
std::string require_text(const Study& study, std::size_t condition) {
  const Entry* list = study.document->find("constraint");
  if (!list || condition >= list->value.items.size()) return "";
  const Entry* require = list->value.items[condition].find("require");
  return require ? require->value.text : "";
}

// distance(a, b) OP R and norm(a) OP R, in either order: the points linked and the kind of link.
ReportJson link(const Study& study, std::size_t condition, const MemberFormulas& formulas,
                const std::vector<std::size_t>& times) {
  static const std::regex pair(R"(distance\s*\(\s*(\w+)\s*,\s*(\w+)\s*\))"),
      single(R"(norm\s*\(\s*(\w+)\s*\))");
  const Constraint& constraint = study.system->constraints[condition];
  const std::string text = require_text(study, condition);
  std::smatch found;
  if (!constraint.radius) return nullptr;
  const bool two = std::regex_search(text, found, pair);
  if (!two && !std::regex_search(text, found, single)) return nullptr;
  const std::size_t relation = text.find_first_of("<>=");
  const bool mirrored = static_cast<std::size_t>(found.position(0)) > relation;
  const bool at_most = relation != std::string::npos && (text[relation] == '<') != mirrored;
  ReportJson made = {{"name", constraint.name},
                     {"constraint", condition},
                     {"kind", constraint.equation ? "rod" : (at_most ? "string" : "apart")},
                     {"from", found[1].str()},
                     {"to", two ? ReportJson(found[2].str()) : ReportJson()}};  // null: the origin
  made["length"] = formulas.table(*constraint.radius, times);
  return made;
}

// f = ±(x − place): a wall across one coordinate of a point, perhaps moving.
ReportJson wall(const Study& study, std::size_t condition, const MemberFormulas& formulas,
                const std::vector<std::size_t>& times) {
  const System& system = *study.system;
  const Constraint& constraint = system.constraints[condition];
  if (!constraint.holonomic || constraint.equation || constraint.columns.size() != 1) return nullptr;
  const bool plus = system.pool->is_constant(constraint.row[0], 1),
             minus = system.pool->is_constant(constraint.row[0], -1);
  if (!plus && !minus) return nullptr;
  // With the coordinate at 0, f is ∓place.
  const Expr place = plus ? system.pool->negate(constraint.value) : constraint.value;
  return {{"name", constraint.name},
          {"constraint", condition},
          {"coordinate", constraint.columns[0]},
          {"side", plus ? "below" : "above"},
          {"place", formulas.table(place, times)}};
}

}  // namespace

ReportJson report_scene(const ReportSource& source, const std::vector<long long>& members,
                        const std::vector<std::size_t>& times) {
  const Study& study = source.study;
  const MemberFormulas formulas(study, members);
  ReportJson points = ReportJson::array(), anchors = ReportJson::array(), links = ReportJson::array(),
             walls = ReportJson::array();
  for (const Point& point : study.system->points)
    points.push_back({{"name", point.name}, {"first", point.first}, {"dimension", point.dimension}});
  for (const AnchorFormula& anchor : study.anchors) {
    ReportJson place = ReportJson::array();
    for (const Expr e : anchor.position) place.push_back(formulas.table(e, times));
    anchors.push_back({{"name", anchor.name}, {"place", place}});
  }
  for (std::size_t i = 0; i < study.system->constraints.size(); ++i) {
    if (const ReportJson made = link(study, i, formulas, times); !made.is_null()) links.push_back(made);
    if (const ReportJson made = wall(study, i, formulas, times); !made.is_null()) walls.push_back(made);
  }
  return {{"points", points}, {"anchors", anchors}, {"links", links}, {"walls", walls}};
}

}  // namespace zwang
