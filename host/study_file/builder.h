// Reads a document into a Study. The methods stand in the study_*.cpp files, one per part of the study.
//
// A definition that fails is noted and replaced by a stand-in, and formulas that mention it are not blamed: each
// mistake is reported once, and as many mistakes as can be told apart are reported together.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/study/study.h"
#include "host/study_file/csv_columns.h"
#include "host/study_file/document.h"
#include "host/study_file/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/interval.h"
#include "src/formula/parse.h"
#include "src/formula/scope.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// What a formula along the motion may mention.
constexpr unsigned allow_state =
    allow_time | allow_parameters | allow_positions | allow_velocities | allow_auxiliaries;

// Tests of numbers.
inline bool is_finite(double x) { return std::isfinite(x); }
inline bool is_positive(double x) { return x > 0 && std::isfinite(x); }
inline bool is_not_negative(double x) { return x >= 0 && std::isfinite(x); }
inline bool is_fraction(double x) { return x >= 0 && x <= 1; }

// load.x, load.y, load.z
inline std::string component_name(const std::string& body, std::size_t k) { return body + "." + "xyz"[k]; }

// What is known of a parameter when the study is read.
struct ParameterFact {
  enum class State { constant, drawn, broken };
  State state = State::broken;
  double value = 0;  // of a constant
  Interval range = Interval::everything();
};

class StudyBuilder {
 public:
  StudyBuilder(const Document& document, std::string path);
  Study build();

 private:
  using State = ParameterFact::State;

  // A body whose coordinates have names: a point, an anchor or a generalized coordinate.
  struct Body {
    Field entry;
    std::string name;
    std::size_t dimension = 1;
    std::size_t first = 0;  // number of its first coordinate
  };
  struct JointDraft {
    Field entry;
    std::vector<std::string> names;
    std::vector<Mark> name_marks;
    std::vector<Field> mean;
    std::vector<std::vector<Field>> covariance;
    bool plain = true;  // only numbers: drawn before [parameters]
  };
  struct Evaluated {
    State state = State::broken;
    double value = 0;
  };
  using Test = bool (*)(double);
  // Something that must hold, and can be tested only when the parameters have numbers.
  struct Demand {
    Field field;
    Expr value;
    std::string message, expected, hint;
    Test holds;
  };
  struct FileUse {
    Field field;
    std::size_t rows;
  };

  // --- Names (study_names.cpp) ---
  void read_names();
  void claim(const std::string& name, const Mark& mark, const std::string& place);
  std::vector<Field> naming_entries(const std::string& key);
  std::string entry_name(const Field& entry);
  std::size_t dimension_of(const Field& entry, const std::string& name);
  std::vector<Body> bodies(const std::string& key, bool with_position);
  void register_bodies();
  // A name in a space of its own: constraints, events, observables, measures.
  bool claim_in(std::set<std::string>& space, const std::string& name, const Location& where,
                const std::string& place);

  // --- Formulas and numbers (study_formula.cpp) ---
  Expressions& pool() { return *description_.pool; }
  template <class Parse>
  auto attempt(const Field& field, const Parse& parse) -> std::optional<decltype(parse(Source{}))> {
    try {
      return parse(reader_.source(field));
    } catch (const Error& error) {
      refuse(field, error);
      return {};
    }
  }
  void refuse(const Field& field, const Error& error);
  bool excused(const std::string& text) const;
  // A number, or an expression in a string.
  std::optional<Expr> formula(const Field& field, unsigned allowed);
  // Also a distribution, which becomes a hidden parameter of that name.
  Expr quantity(const Field& field, const std::string& draw_name, unsigned allowed = allow_parameters);
  Evaluated evaluate(Expr e);
  Interval range(Expr e);
  // The same for every member: not drawn, and finite unless infinity is allowed.
  std::optional<double> constant(const Field& field, Test holds, const std::string& expected);
  void demand(const Field& field, Expr value, Test holds, const std::string& message,
              const std::string& expected, const std::string& hint = "");

  // --- Parameters and distributions (study_parameters.cpp, study_distribution.cpp, study_joint.cpp) ---
  void read_parameters();
  void read_parameter(const Entry& entry, const Field& field);
  std::size_t add_parameter(ParameterRule rule, const ParameterFact& fact);
  void define_parameter(const std::string& name, ParameterRule rule, const ParameterFact& fact);
  std::optional<Distribution> distribution(const Field& field);
  bool read_arguments(const Field& field, Distribution& made);
  bool read_moments(const Field& field, bool with_std, Distribution& made);
  bool read_grid(const Field& field, Distribution& made);
  bool read_file(const Table& table, const Field& field, Distribution& made);
  bool check_arguments(const Field& field, const Distribution& made);
  Interval range(const Distribution& made);
  void draft_joints();
  void add_joint(const JointDraft& draft);
  bool check_covariance(const JointDraft& draft, const Joint& joint);

  // --- The system (study_system.cpp) ---
  void read_anchors();
  void read_points();
  void read_coordinates();
  void read_auxiliaries();
  void read_system();
  void read_gravity(const Field& field);
  void read_force(Field field);
  void check_kinetic(const Field& field);

  // --- Conditions (study_constraint.cpp) ---
  void read_constraints();
  void read_constraint(const Field& entry);
  bool read_condition(const Field& field, ConditionFormula& made);
  bool distance_condition(const Field& field, const Condition& condition, ConditionFormula& made);
  bool check_condition(const Field& field, const ConditionFormula& made);
  void read_restitution(const Field& field, ConditionFormula& made);
  void read_interval_in_force(const Table& table, ConditionFormula& made);
  void name_condition(const ConditionFormula& made);

  // --- Maurer's general variations (study_variation.cpp) ---
  void read_variation(const Table& table, ConditionFormula& made, bool readable);
  void refuse_beside_general();

  // --- Impulses, events, what to observe (study_observe.cpp) ---
  void read_impulses();
  void read_target(const Field& field, ImpulseFormula& made);
  void read_amounts(const Field& field, ImpulseFormula& made);
  void read_events();
  void read_stop(const Field& field);
  void read_observables();
  void read_measures();
  void define_energies();
  void add_density();

  // --- Settings (study_settings.cpp) ---
  void read_ensemble();
  void read_until(const Field& field);
  void read_members(const Field& field);
  void read_time();
  void read_output_times(const Table& table);
  bool read_given_times(const Field& at, const Field& end);
  void read_integrator();
  void read_statistics();
  void read_histograms(const Field& field);
  std::optional<std::pair<double, double>> read_range(const Field& field);
  void read_output();
  void check_sizes();

  // --- The nominal member (study_nominal.cpp) ---
  void check_masses();
  void check_nominal_member();
  void check_mass_matrix(const Eigen::MatrixXd& mass);

  Reader reader_;
  Study study_;
  Description description_;
  Scope scope_;

  std::map<std::string, std::string> taken_;  // names of the common name space, and what has them
  std::set<std::string> broken_;              // names whose definition failed
  bool names_lost_ = false;  // a definition without a usable name: unknown names are not blamed
  struct Later {
    std::string why, hint;
  };
  std::map<std::string, Later> later_;  // parameters not defined yet
  std::vector<ParameterFact> facts_;    // per parameter
  std::vector<Demand> demands_;
  std::vector<JointDraft> joints_;
  std::vector<FileUse> file_uses_;
  CsvFiles csv_files_;
  double grid_members_ = 1;  // product of all grids
  bool has_grid_ = false;

  std::vector<Body> anchors_, points_, coordinates_;
  std::vector<Field> auxiliaries_;
  std::vector<std::string> auxiliary_names_;
  Field kinetic_field_;
  bool time_broken_ = false;
  std::set<std::string> condition_names_, event_names_;
  std::map<std::string, std::size_t> condition_index_;
  std::vector<Field> condition_fields_, impulse_fields_, measure_fields_;
  Field general_;  // the first condition that is varied generally
};

}  // namespace zwang
