// Text of the compile-time constants and tables of a model.
#include "src/emit/head.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "src/emit/function.h"
#include "src/emit/solve.h"
#include "src/expression/expression.h"
#include "src/system/body.h"
#include "src/system/reduced_forces.h"
#include "src/system/row_structure.h"

namespace zwang {

namespace {

// "  static constexpr int a = 1, b = 2;"
template <class Value>
std::string line_of(const std::string& type, const std::vector<std::pair<std::string, Value>>& list,
                    const std::function<std::string(Value)>& text) {
  std::string line = "  static constexpr " + type;
  for (const auto& [name, value] : list)
    line += (name == list.front().first ? " " : ", ") + name + " = " + text(value);
  return line + ";\n";
}

std::string numbers(const std::vector<std::pair<std::string, std::size_t>>& list) {
  return line_of<std::size_t>("int", list, [](std::size_t value) { return std::to_string(value); });
}

std::string truths(const std::vector<std::pair<std::string, bool>>& list) {
  return line_of<bool>("bool", list, [](bool value) { return std::string(value ? "true" : "false"); });
}

// A table with one entry for each of a list.
template <class Entry, class Number>
std::string table(const std::string& type, const std::string& name, const std::vector<Entry>& list,
                  const Number& number) {
  std::vector<int> values;
  values.reserve(list.size());
  for (const Entry& entry : list) values.push_back(static_cast<int>(number(entry)));
  return table_text(type, name, values);
}

// What kernels know of records; absent in most models.
std::string record_head_text(const System& system) {
  if (system.records.empty()) return "";
  bool at_events = false, periodic = false, forces = false;
  std::size_t values = 0;
  for (const RecordFormula& record : system.records) {
    at_events = at_events || !record.periodic();
    periodic = periodic || record.periodic();
    values += record.values.size();
    for (const NamedExpr& value : record.values)
      forces = forces || mentions_reactions(*system.pool, value.value);
  }
  return truths({{"has_records", true},
                 {"records_at_events", at_events},
                 {"records_periodic", periodic},
                 {"records_forces", forces}}) +
         numbers({{"records", system.records.size()},
                  {"recorded_values", values},
                  {"record_room", system.record_room()}});
}

// One number for each record: the sum of `size` over those before it.
template <class Size>
std::vector<std::size_t> places_of(const std::vector<RecordFormula>& records, const Size& size) {
  std::vector<std::size_t> places;
  std::size_t next = 0;
  for (const RecordFormula& record : records) {
    places.push_back(next);
    next += size(record);
  }
  return places;
}

std::string record_tables(const System& system) {
  const std::vector<RecordFormula>& records = system.records;
  if (records.empty()) return "";
  const auto number = [](std::size_t place) { return place; };
  return table("int", "record_pattern", records, [](const RecordFormula& r) { return r.pattern; }) +
         table("int", "record_target", records, [](const RecordFormula& r) { return r.target; }) +
         table("int", "record_values", records, [](const RecordFormula& r) { return r.values.size(); }) +
         table("int", "record_most", records, [](const RecordFormula& r) { return r.most; }) +
         table("int", "record_skip", records, [](const RecordFormula& r) { return r.skip; }) +
         table("bool", "record_keeps_last", records, [](const RecordFormula& r) { return r.keep_last; }) +
         table("bool", "record_before", records, [](const RecordFormula& r) { return r.before; }) +
         table("int", "record_offset", places_of(records, [](const RecordFormula& r) { return r.room(); }),
               number) +
         table("int", "record_first_value",
               places_of(records, [](const RecordFormula& r) { return r.values.size(); }), number) +
         table("int", "reduction_column", system.reductions,
               [](const ReductionFormula& formula) { return formula.column; });
}

// The orientations of bodies in space, absent in most models.
std::string orientation_head_text(const System& system) {
  std::vector<Body> turning;
  for (const Body& body : system.bodies)
    if (body.spatial()) turning.push_back(body);
  if (turning.empty()) return "";
  return "  // orientations: the first of three coordinates that turn it, and the first of its four "
         "states\n" +
         truths({{"has_orientations", true}}) + numbers({{"orientations", turning.size()}}) +
         table("int", "orientation_turn", turning, [](const Body& body) { return body.first_turn(); }) +
         table("int", "orientation_state", turning, [](const Body& body) { return body.state; });
}

// Whether friction may change the normal force of its contact: some coordinates of the contact's row are connected, by
// masses or by rows, with some of its slip rows. Otherwise kappa does not depend on the friction [friction-4].
bool friction_couples(const System& system) {
  std::vector<std::size_t> group(system.size());
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = i;
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t kept = group[a], gone = group[b];
    for (std::size_t& one : group)
      if (one == gone) one = kept;
  };
  for (const MassEntry& entry : system.mass) join(entry.row, entry.column);
  for (const Constraint& row : system.constraints)
    for (const std::size_t column : row.columns) join(row.columns.front(), column);
  const auto meet = [&](const Constraint& a, const Constraint& b) {
    return std::any_of(a.columns.begin(), a.columns.end(), [&](std::size_t i) {
      return std::any_of(b.columns.begin(), b.columns.end(),
                         [&](std::size_t j) { return group[i] == group[j]; });
    });
  };
  return std::any_of(system.frictions.begin(), system.frictions.end(), [&](const Friction& friction) {
    return std::any_of(friction.rows.begin(), friction.rows.end(), [&](std::size_t row) {
      return meet(system.constraints[friction.contact], system.constraints[row]);
    });
  });
}

// What kernels know of friction and bounds; absent in most models.
std::string mode_head_text(const System& system, std::size_t first_mode) {
  if (system.transitions.empty()) return "";
  return truths({{"has_modes", true},
                 {"autonomous", is_autonomous(system)},
                 {"friction_couples", friction_couples(system)}}) +
         numbers({{"modes", system.modes},
                  {"first_mode", first_mode},
                  {"frictions", system.frictions.size()},
                  {"bounds", system.bounds.size()},
                  {"transitions", system.transitions.size()}});
}

// Links that break as a whole; absent in most models.
std::string link_limit_tables(const System& system) {
  const auto& links = system.link_limits;
  if (links.empty()) return "";
  const auto broken_state = [&](const LinkLimitFormula& link) {
    const std::optional<std::size_t>& state = system.constraints[link.first].broken;
    return state ? static_cast<int>(*state) : -1;
  };
  // By condition: whether it is the row of a link that takes no part in shocks.
  std::vector<bool> shuns(system.constraints.size(), false);
  for (const LinkLimitFormula& link : links)
    for (std::size_t k = 0; k < link.rows; ++k) shuns[link.first + k] = !link.bears_impulses;
  return truths({{"has_link_limits", true}}) + numbers({{"link_limits", links.size()}}) +
         table("int", "link_first", links, [](const LinkLimitFormula& link) { return link.first; }) +
         table("int", "link_rows", links, [](const LinkLimitFormula& link) { return link.rows; }) +
         table("int", "link_first_loaded", links,
               [](const LinkLimitFormula& link) { return link.first_loaded; }) +
         table("int", "link_loaded", links, [](const LinkLimitFormula& link) { return link.loaded; }) +
         table("bool", "link_bears_impulses", links,
               [](const LinkLimitFormula& link) { return link.bears_impulses; }) +
         table("int", "link_broken_state", links, broken_state) +
         table("bool", "is_free_in_shocks", shuns, [](bool free) { return free; });
}

std::string mode_tables(const System& system) {
  if (system.transitions.empty()) return "";
  const auto& frictions = system.frictions;
  const auto& bounds = system.bounds;
  constexpr int none = -1;
  // By condition: the friction it is the contact of, the bound it has, the contact it is a slip row of.
  std::vector<int> friction_of(system.constraints.size(), none), bound_of = friction_of,
                                                                 slip_of = friction_of;
  for (std::size_t i = 0; i < frictions.size(); ++i) {
    friction_of[frictions[i].contact] = static_cast<int>(i);
    for (const std::size_t row : frictions[i].rows) slip_of[row] = static_cast<int>(frictions[i].contact);
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) bound_of[bounds[i].condition] = static_cast<int>(i);
  const auto place = [](const std::optional<std::size_t>& mode) {
    return mode ? static_cast<int>(*mode) : none;
  };
  const auto same = [](int number) { return number; };
  const auto auxiliary = [&](const Bound& b) { return place(system.constraints[b.condition].broken); };
  // By reduction and condition: whether the reduced formula contains the multiplier.
  std::vector<char> reads_force;
  for (const ReductionFormula& formula : system.reductions) {
    const std::vector<std::size_t> read = reduced_forces(system, formula);
    for (std::size_t i = 0; i < system.conditions.size(); ++i)
      reads_force.push_back(std::find(read.begin(), read.end(), i) != read.end());
  }
  return table("int", "friction_of", friction_of, same) + table("int", "bound_of", bound_of, same) +
         table("int", "slip_of", slip_of, same) +
         table("int", "friction_contact", frictions, [](const Friction& f) { return f.contact; }) +
         table("int", "friction_row", frictions, [](const Friction& f) { return f.rows.front(); }) +
         table("int", "friction_rows", frictions, [](const Friction& f) { return f.rows.size(); }) +
         table("int", "friction_mode", frictions, [](const Friction& f) { return f.first_mode; }) +
         table("int", "bound_condition", bounds, [](const Bound& b) { return b.condition; }) +
         table("bool", "bound_breaks", bounds, [](const Bound& b) { return b.breaks; }) +
         table("int", "bound_sign", bounds, [&](const Bound& b) { return place(b.sign); }) +
         table("int", "bound_offset", bounds, [&](const Bound& b) { return place(b.offset); }) +
         table("int", "bound_broken_state", bounds, auxiliary) +
         table("int", "transition_kind", system.transitions, [](const Transition& t) { return t.kind; }) +
         table("int", "transition_of", system.transitions, [](const Transition& t) { return t.of; }) +
         table("bool", "reads_force", reads_force, [](char reads) { return reads != 0; });
}

}  // namespace

std::string model_head(const System& system, bool masked, std::size_t first_mode, std::size_t drives) {
  const std::size_t n = system.size(), r = system.constraints.size();
  const std::size_t signals =
      system.watches.size() + (system.stop ? 1 : 0) + system.kinks.size() + system.transitions.size();
  const std::size_t first_branch = first_mode + system.modes;
  const bool diagonal = std::all_of(system.mass.begin(), system.mass.end(),
                                    [](const MassEntry& e) { return e.row == e.column; });
  const bool extremes = std::any_of(system.reductions.begin(), system.reductions.end(), is_extreme);
  const bool forces =
      std::any_of(system.reductions.begin(), system.reductions.end(), [&](const ReductionFormula& formula) {
        return system.pool->mentions(formula.value, SymbolKind::multiplier);
      });
  const bool observed_forces =
      std::any_of(system.observables.begin(), system.observables.end(), [&](const NamedExpr& observable) {
        return system.pool->mentions(observable.value, SymbolKind::multiplier);
      });
  return "// Emitted. Coordinates: " + std::to_string(n) + ", conditions: " + std::to_string(r) + ".\n" +
         "struct Model {\n" +
         numbers({{"parameters", system.parameters.size()},
                  {"constants", first_branch + system.branches.size()},
                  {"drives", drives},
                  {"coordinates", n},
                  {"auxiliaries", system.auxiliaries.size()}}) +
         numbers({{"conditions", r},
                  {"integrals", system.integrands.size()},
                  {"signals", signals},
                  {"branches", system.branches.size()},
                  {"watches", system.watches.size()},
                  {"impulses", system.impulses.size()}}) +
         numbers({{"observables", system.observables.size()},
                  {"reductions", system.reductions.size()},
                  {"member_values", system.member_values()}}) +
         truths({{"stops", system.stop.has_value()},
                 {"masked", masked},
                 {"has_free_motion", has_free_motion(system, masked)},
                 {"diagonal_mass", diagonal}}) +
         truths({{"any_turns", !system.turns.empty()},
                 {"any_extremes", extremes},
                 {"measures_forces", forces},
                 {"works", system.does_work()}}) +
         truths({{"has_density", system.density.has_value()},
                 {"impulses_shift", system.impulses_shift()},
                 {"any_general", system.any_general()},
                 {"light_events", has_light_events(system, masked)}}) +
         truths({{"signals_forces", system.reactions_bend()},
                 {"observes_forces", observed_forces},
                 {"free_impacts", has_free_impacts(system, masked)}}) +
         numbers({{"density", system.density.value_or(0)}}) +
         // Absent in most models: kernels test for its presence (kernels/dynamics/member.h).
         (rows_may_become_dependent(system) ? truths({{"rows_may_become_dependent", true}}) : "") +
         mode_head_text(system, first_mode) + orientation_head_text(system) + record_head_text(system);
}

std::string model_tables(const System& system) {
  const auto& constraints = system.constraints;
  return "  // conditions, watched functions, impulses and reductions by number\n" +
         table("bool", "is_equation", constraints, [](const Constraint& c) { return c.equation; }) +
         table("bool", "is_holonomic", constraints, [](const Constraint& c) { return c.holonomic; }) +
         table("bool", "is_linear", constraints, [](const Constraint& c) { return c.linear; }) +
         table("int", "watch_direction", system.watches, [](const WatchFormula& w) { return w.direction; }) +
         table("bool", "impulse_is_momentum", system.impulses,
               [](const ImpulseFormula& impulse) { return impulse.momentum; }) +
         table("int", "reduction_kind", system.reductions,
               [](const ReductionFormula& formula) { return formula.reduction; }) +
         table("int", "reduction_pattern", system.reductions,
               [](const ReductionFormula& formula) { return formula.pattern; }) +
         table("int", "reduction_target", system.reductions,
               [](const ReductionFormula& formula) { return formula.target; }) +
         table("int", "reduction_integral", system.reductions,
               [](const ReductionFormula& formula) { return formula.integral; }) +
         mode_tables(system) + link_limit_tables(system) + record_tables(system);
}

}  // namespace zwang
