// StudyBuilder: builds a Study from a parsed document. Its methods are defined in the .cpp files of this
// folder, one file per part of the study, as named below.
//
// Order of calls. build() (load_study.cpp) runs the read_* methods in the only order that works:
//   names -> parameters -> bodies and [system] -> [time] -> constraints -> impulses -> events and [time] stop ->
//   observables, records and measures -> settings -> checks at the nominal member.
// Names come first, so that a formula that uses a name in the wrong place gets a message about that name.
// Parameters come before every formula that may use them, [time] before constraints because range() needs the
// end time, constraints and events before the observables and measures that mention them, and [ensemble]
// after the grids have been counted. Each part below states which method fills it.
//
// Error handling. A definition that fails is reported and replaced by a placeholder, and formulas that use it
// are not reported again: each mistake appears once, and all independent mistakes appear together.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "host/study_file/csv_columns.h"
#include "host/study_file/input_columns.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/interval.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/parse.h"
#include "src/formula/parsed_formula.h"
#include "src/formula/scope.h"
#include "src/system/body.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// The symbols that formulas evaluated along the motion may use.
constexpr unsigned allow_state = allow_time | allow_parameters | allow_positions | allow_velocities |
                                 allow_auxiliaries | allow_quaternions;

// Tests of numbers.
inline bool is_finite(double x) { return std::isfinite(x); }
inline bool is_positive(double x) { return x > 0 && std::isfinite(x); }
inline bool is_not_negative(double x) { return x >= 0 && std::isfinite(x); }
inline bool is_fraction(double x) { return x >= 0 && x <= 1; }

// load.x, load.y, load.z
inline std::string component_name(const std::string& body, std::size_t k) { return body + "." + "xyz"[k]; }

// What is known about a parameter's value while the study is read.
struct ParameterFact {
  enum class State { constant, drawn, broken };
  State state = State::broken;
  double value = 0;  // of a constant
  Interval range = Interval::everything();
};

class StudyBuilder {
 public:
  // The document and the columns must outlive it.
  StudyBuilder(const Document& document, std::string path, const std::vector<InputColumn>& columns);
  Study build();

 private:
  using State = ParameterFact::State;

  // An entry whose coordinates have names: a point, an anchor, a body or a generalized coordinate.
  struct NamedPart {
    Field entry;
    std::string name;
    std::size_t dimension = 1;
    std::size_t first = 0;  // index of its first coordinate
  };
  struct JointDraft {
    Field entry;
    std::vector<std::string> names;
    std::vector<Mark> name_marks;
    std::vector<Field> mean;
    std::vector<std::vector<Field>> covariance;
    bool numbers_only = true;  // no formulas: drawn before [parameters]
  };
  struct Evaluated {
    State state = State::broken;
    double value = 0;
  };
  using Test = bool (*)(double);
  // A requirement on a drawn value. It is tested at the nominal member, when the parameters have numbers.
  struct DeferredCheck {
    Field field;
    Expr value;
    std::string message, expected, hint;
    Test holds;
  };
  struct FileUse {
    Field field;
    std::size_t rows;
  };

  // --- Names (names.cpp) ---
  void read_names();
  void register_name(const std::string& name, const Mark& mark, const std::string& place);
  std::vector<Field> naming_entries(const std::string& key);
  std::string entry_name(const Field& entry);
  std::size_t dimension_of(const Field& entry, const std::string& name);
  std::vector<NamedPart> named_parts(const std::string& key, bool with_position);
  void register_bodies();
  // Registers a name in a name space of its own: constraints, events, observables, measures.
  bool register_name_in(std::set<std::string>& space, const std::string& name, const Location& where,
                        const std::string& place);

  // --- Formulas and numbers (formula.cpp) ---
  Expressions& pool() { return *description_.pool; }
  template <class Parse>
  auto parse_or_report(const Field& field, const Parse& parse) -> std::optional<decltype(parse(Source{}))> {
    try {
      return parse(reader_.source(field));
    } catch (const Error& error) {
      report_parse_error(field, error);
      return {};
    }
  }
  void report_parse_error(const Field& field, const Error& error);
  bool follows_from_earlier_error(const std::string& text) const;
  // A number, or an expression in a string.
  std::optional<Expr> formula(const Field& field, unsigned allowed);
  // As formula(), or a distribution, which becomes a hidden parameter of that name.
  Expr quantity(const Field& field, const std::string& draw_name, unsigned allowed = allow_parameters);
  Evaluated evaluate(Expr e);
  Interval range(Expr e);
  // A value that is the same for every member: not drawn, and accepted by `holds`.
  std::optional<double> constant(const Field& field, Test holds, const std::string& expected);
  // Reports a constant that `holds` refuses; a drawn value is checked later, at the nominal member.
  void check_value(const Field& field, Expr value, Test holds, const std::string& message,
                   const std::string& expected, const std::string& hint = "");
  // The same, and for a drawn value that may leave its range also at every member (Study::ranges).
  Interval range_of_draws(Expr e);
  void check_every_member(const Field& field, Expr value, Test holds, const std::string& message,
                          const std::string& expected);

  // --- Parameters and distributions (parameters.cpp, distribution.cpp, joint.cpp) ---
  void read_parameters();
  void read_parameter(const Entry& entry, const Field& field);
  std::size_t add_parameter(ParameterRule rule, const ParameterFact& fact);
  void define_parameter(const std::string& name, ParameterRule rule, const ParameterFact& fact);
  std::optional<Distribution> distribution(const Field& field);
  bool read_arguments(const Field& field, Distribution& made);
  bool read_moments(const Field& field, bool with_std, Distribution& made);
  bool read_grid(const Field& field, Distribution& made);
  bool read_file(const Table& table, const Field& field, Distribution& made);
  bool take_column(const Field& field, const std::string& name, Distribution& made);
  bool check_arguments(const Field& field, const Distribution& made);
  Interval range(const Distribution& made);
  // --- Sweeps (sweep.cpp) ---
  static bool is_sweep(const Field& field);
  std::optional<std::size_t> sweep(const Field& field, const std::string& name);
  bool read_sweep(const Field& field, Sweep& made);
  bool read_sweep_ends(const Field& from, const Field& to, const Field& count, Sweep& made);
  bool read_sweep_values(const Field& field, Sweep& made);
  std::optional<long long> count_points();
  // What a table in the place of a number defines: a draw or a sweep.
  ParameterFact draw_or_sweep(const Field& field, ParameterRule& rule);
  void draft_joints();
  void add_joint(const JointDraft& draft);
  bool check_covariance(const JointDraft& draft, const Joint& joint);

  // --- The system (system.cpp) ---
  void read_anchors();
  void read_points();
  void read_coordinates();
  void read_auxiliaries();
  void read_system();
  void read_gravity(const Field& field);
  void read_force(Field field);
  void turn_torques_into_frames();
  void check_kinetic(const Field& field);

  // --- Rigid bodies (body.cpp, body_names.cpp) ---
  void register_body(NamedPart& part);
  void register_orientation(std::size_t body);
  void read_bodies();
  void read_body(const NamedPart& part, Body& made);
  void read_inertia(const Field& field, Body& made);
  void check_inertia(const Field& field, const Body& made);
  void read_body_velocity(const Table& table, const Body& made);
  void read_orientation(const Table& table, const Body& made);
  std::vector<Expr> read_quaternion(const Field& field, const std::string& body);
  std::vector<Expr> read_axis_and_angle(const Field& field, const std::string& body);
  void read_body_points(const Field& field, Body& made);
  void read_shape(const Field& field, Body& made);
  std::optional<std::size_t> body_point(const Field& field, const Body& body);
  void define_body_names(const Body& body);
  void define_vector(const std::string& name, const VectorName& vector);
  void read_frame(const Field& field, const Body& made);
  std::vector<Expr> read_uniform_orientation(const Field& field, const std::string& body);
  std::vector<Expr> unit_quaternion(const Field& field, const std::vector<Expr>& q);
  void add_orientation_states();
  // So many numbers, formulas or distributions; zeros after an error.
  std::vector<Expr> quantities(const Field& field, std::size_t count, const std::string& expected,
                               const std::vector<std::string>& names);
  void read_forces();
  // A place that moves or is prescribed: a point, a body, a body point or an anchor.
  const VectorName* place_named(const Field& field, std::string& name);

  // --- Constraints (constraint.cpp) ---
  void read_constraints();
  void read_constraint(const Field& entry);
  bool read_condition(const Field& field, ConditionFormula& made);
  bool distance_condition(const Field& field, const Condition& condition, ConditionFormula& made);
  bool check_condition(const Field& field, const ConditionFormula& made);
  void read_restitution(const Field& field, ConditionFormula& made);
  void read_time_in_force(const Table& table, ConditionFormula& made);
  void define_constraint_names(const ConditionFormula& made, const std::vector<Expr>& slip);
  // Adds a condition, after it the slip speeds of its friction, and their names.
  void add_condition(const Field& entry, ConditionFormula made, const std::vector<Expr>& slip);
  // A condition that depends on the place of one point or body point: the place, and the gradient of f there.
  struct PlaceGradient {
    ExprVector place, gradient;
  };
  std::optional<PlaceGradient> gradient_at_place(Expr f);

  // --- Surfaces and contacts of bodies (surface.cpp, contact.cpp) ---
  struct Surface {
    std::string name;
    ExprVector point, normal, velocity;  // of parameters and t; the normal has unit length
    std::optional<Expr> turning;         // angular velocity along the normal
    ExprVector about;                    // a point of that axis
  };
  // One condition of a contact: f <= 0, the length of its gradient at a touching point, the slip of the material.
  struct ContactCondition {
    std::string suffix;
    Expr value{}, end_gradient{};
    ExprVector slip;
  };
  void read_surfaces();
  void read_turning(const Field& field, Surface& made);
  void read_contacts();
  void read_contact(const Field& entry);
  std::vector<ContactCondition> contact_conditions(const Field& field, const std::string& first,
                                                   const std::string& second);
  const Surface* surface_named(const std::string& name) const;
  const Body* body_named(const std::string& name) const;
  ExprVector unit(const ExprVector& a);
  ExprVector material_velocity(const Body& body, const ExprVector& place);
  ExprVector material_velocity(const Surface& surface, const ExprVector& place);
  Expr height_above(const Surface& surface, const ExprVector& place);
  ContactCondition on_surface(const Body& body, const ExprVector& centre, Expr radius,
                              const Surface& surface);
  ContactCondition disc_on_surface(const Body& body, const Surface& surface);
  ContactCondition of_spheres(const Body& first, const ExprVector& a, Expr first_radius, const Body& second,
                              const ExprVector& b, Expr second_radius);
  ExprVector nearest_on_segment(const ExprVector& a, const ExprVector& b, const ExprVector& to);

  // --- Links of bodies (link.cpp, link_rows.cpp) ---
  struct LinkEnd {
    std::string name;  // as written
    ExprVector place;
    const Body* body = nullptr;  // null: a point or an anchor
    bool is_anchor = false;
  };
  struct LinkRow {
    Expr value{};
    bool holonomic = true, equation = true;
    bool is_force = true;                   // its multiplier is a component of the force
    std::optional<Expr> end_gradient = {};  // length of the gradient at an end
    std::optional<Expr> radius = {};        // of a distance
    ExprVector difference = {};
  };
  void read_links();
  void read_link(const Field& entry);
  std::optional<LinkEnd> read_link_end(const Field& field);
  std::vector<LinkRow> link_rows(const std::string& type, const Table& table, const LinkEnd& a,
                                 const LinkEnd& b);
  std::vector<LinkRow> coincidence(const LinkEnd& a, const LinkEnd& b);
  std::vector<LinkRow> no_rotation(const LinkEnd& a, const LinkEnd& b);
  std::vector<LinkRow> axes_aligned(const Table& table, const LinkEnd& a, const LinkEnd& b,
                                    const ExprVector& axis);
  std::vector<LinkRow> offset_along(const LinkEnd& a, const LinkEnd& b, const ExprVector& axis);
  std::vector<LinkRow> distance_row(const Table& table, const LinkEnd& a, const LinkEnd& b, bool string);
  std::vector<LinkRow> rolling_rows(const Field& entry, const Table& table);
  std::optional<LinkRow> dry_row(const std::string& type, const LinkEnd& a, const LinkEnd& b,
                                 const ExprVector& axis);
  ExprVector read_link_axis(const Table& table, const LinkEnd& a);
  // A vector of an end in space axes; of a point or an anchor as it stands.
  ExprVector turned(const LinkEnd& end, const ExprVector& in_body);
  // The components, in the axes of an end, of a vector in space axes at the start.
  ExprVector in_axes_at_start(const LinkEnd& end, const ExprVector& vector);
  Expr at_start(Expr e);
  void add_link_rows(const Field& entry, const Table& table, const std::string& name,
                     const std::vector<LinkRow>& rows, std::size_t dry, bool breaks);
  bool breaks_as_a_whole(const Table& table, const std::string& type);
  void read_link_limits(const Table& table, const std::string& name, const std::vector<LinkRow>& rows,
                        std::size_t first);
  bool read_link_impulse_limit(const Field& field);

  // --- Friction and limits (friction.cpp) ---
  // The slip speeds of a contact with friction; none where there is no friction or it is wrong.
  // `known`: the slip follows from the shapes in contact.
  std::vector<Expr> read_friction(const Table& table, ConditionFormula& made, bool readable,
                                  const std::vector<Expr>& known = {});
  std::vector<Expr> read_slip(const Field& field);
  bool check_slip(const Field& field, Expr slip);
  std::vector<Expr> derived_slip(const Field& field, const ConditionFormula& made);
  std::vector<Expr> across(const std::vector<Expr>& normal, const std::vector<Expr>& velocity);
  void read_limit(const Table& table, ConditionFormula& made, bool readable);
  void read_impulse_limit(const Table& table, ConditionFormula& made);
  // A coefficient: a number, a formula of parameters or a distribution, with its range.
  Expr read_coefficient(const Field& field, const std::string& name, Test holds, const std::string& message,
                        const std::string& expected);
  void add_mode_states(ConditionFormula& made);
  bool study_mentions(std::string_view word) const;
  ConditionFormula slip_row(Expr slip, std::size_t which, std::size_t count) const;
  void define_friction_names(const Constraint& constraint, const std::vector<Expr>& slip,
                             ConditionName& names);

  // --- Maurer's general variations (variation.cpp) ---
  void read_variation(const Table& table, ConditionFormula& made, bool readable);
  void reject_beside_general_variation();

  // --- Impulses, events and observables (observe.cpp) ---
  void read_impulses();
  void read_target(const Field& field, ImpulseFormula& made);
  bool read_impulse_on_body(const Field& on, const Table& table, ImpulseFormula& made);
  void read_amounts(const Field& field, ImpulseFormula& made);
  void read_events();
  void read_stop(const Field& field);
  void read_observables();
  void define_energies();
  void add_density();

  // --- Measures and conditions on them (measure.cpp) ---
  void read_measures();
  void read_givens();
  MeasureScope measure_scope(const Field& field);
  Expr add_reduction(const ReducedFormula& reduced, const Field& field);

  // --- Pick-freeze (sensitivity.cpp) ---
  void read_sensitivity();
  void read_sensitivity_measures(const Field& field);
  void read_sensitivity_inputs(const Table& table);
  std::vector<std::size_t> read_draws(const Field& field);
  bool check_joints(const Field& field, const std::vector<std::size_t>& parameters);
  void check_sensitivity();
  void check_members_of_sensitivity(const Field& members);

  // --- Records (record.cpp) ---
  void read_records();
  void read_record(const Field& entry, RecordFormula& made);
  void read_record_times(const Table& table, const Field& entry, RecordFormula& made);
  void read_record_pattern(const Field& field, RecordFormula& made);
  void read_record_values(const Field& field, RecordFormula& made);
  void place_in_record(const ReducedFormula& reduced, ReductionFormula& made) const;
  void check_records_size();
  void check_labels();
  void leave_out_of_sensitivity(std::size_t measure);
  void hold_label_operands();

  // --- Labels (units.cpp) ---
  std::vector<std::string> names_with_numbers() const;
  void read_units();

  // --- Settings (settings.cpp) ---
  void read_ensemble();
  // until and exceedance: stopping.cpp
  void read_until(const Field& field);
  void read_until_error(const Field& field, const Table& table, UntilSettings& made);
  void read_exceedances(const Field& field);
  void read_levels(const Field& field, std::vector<double>& levels);
  std::vector<std::string> names_of_measures() const;

  // --- Numbers of members (members.cpp) ---
  void read_members(const Table& table);
  void read_members_per_point(const Table& table);
  std::optional<long long> members_per_point(const Field& field);
  void check_file_rows(long long needed);
  void check_statistics_size();
  void read_time();
  void read_output_times(const Table& table);
  bool read_given_times(const Field& at, const Field& end);
  void read_integrator();
  void read_statistics();
  void read_histograms(const Field& field);
  std::optional<std::pair<double, double>> read_range(const Field& field);
  void read_output();
  void read_trajectory_range(const Field& field);
  void check_sizes();

  // --- Checks that need numbers: the nominal member (nominal.cpp) ---
  void check_masses();
  void check_nominal_member();
  void check_nominal_member(const MemberInputs& nominal);
  void check_mass_matrix(const Eigen::MatrixXd& mass);

  // --- Input ---
  Reader reader_;
  const std::vector<InputColumn>& columns_;
  CsvFiles csv_files_;

  // --- Output: filled by all read_* methods ---
  Study study_;
  Description description_;  // becomes study_.system at the end of build()
  Scope scope_;              // the names that formulas may use so far

  // --- Names ---
  struct NotYetDefined {
    std::string why, hint;
  };
  struct Names {
    std::map<std::string, std::string> taken;  // the common name space: name -> its owner. By read_names()
    std::set<std::string> broken;              // names whose definition failed. By every read_* method
    bool lost = false;  // an entry without a usable name was found: unknown names are not reported
    std::map<std::string, NotYetDefined> later;           // parameters not yet read. By read_parameters()
    std::set<std::string> constraints, events, surfaces;  // name spaces of their own
    std::map<std::string, std::size_t> constraint_index;  // By read_constraints(), used by read_measures()
  };
  Names names_;

  // --- Parameters: by read_parameters(), and by quantity() for draws written in place ---
  struct Parameters {
    std::vector<ParameterFact> facts;            // one per parameter, in the order of study_.parameters
    std::vector<JointDraft> joints;              // by read_names(), because a [[joint]] defines names
    std::vector<DeferredCheck> deferred_checks;  // used by check_nominal_member()
    std::vector<FileUse> file_uses;              // used by read_members()
    bool has_grid = false;                       // used by read_members() and read_until()
    double grid_members = 1;                     // product of the points of all grids; NaN if one is invalid
    bool has_sweep = false, sweep_broken = false;  // used by read_members()
  };
  Parameters parameters_;

  // --- Bodies: by read_names(), read again by read_anchors() ... read_auxiliaries() ---
  struct Bodies {
    std::vector<NamedPart> anchors, points, bodies, coordinates;
    std::vector<Field> auxiliaries;
    std::vector<std::string> auxiliary_names;
    std::vector<Expr> orientations;  // starts of the quaternions of bodies in space. By read_bodies()
  };
  Bodies bodies_;
  std::vector<Surface> surfaces_;  // By read_surfaces(), used by read_contacts() and read_links()

  // --- Fields kept for messages of later checks ---
  struct Fields {
    Field stop;                                // [time] stop
    Field kinetic;                             // [system] kinetic
    std::vector<Field> constraints, impulses;  // one per entry of description_
    std::vector<Field> reductions;             // one per reduction: the measure that uses it first
    Field general_variation;                   // the first constraint with variation = "general"
    Field until_index;                         // [ensemble] until, index
    Field sensitivity;                         // [sensitivity]
  };
  Fields fields_;

  bool inputs_broken_ = false;  // [sensitivity] names inputs that do not exist or cannot be varied
  bool time_broken_ = false;    // [time] is missing or invalid: range() then assumes any time
};

}  // namespace zwang
