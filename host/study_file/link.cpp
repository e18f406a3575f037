// Reads [[link]]: joints between bodies, points and anchors, expanded to constraints link.1, link.2 ...
#include <algorithm>
#include <limits>

#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"
#include "src/formula/scope.h"
#include "src/system/body.h"
#include "src/system/system.h"

namespace zwang {

namespace {

const std::vector<std::string> link_types = {"ball", "hinge", "slider", "weld", "rod", "string", "rolling"};

}  // namespace

void StudyBuilder::read_links() {
  for (const Field& entry : naming_entries("link")) read_link(entry);
}

void StudyBuilder::read_link(const Field& entry) {
  const Table table(reader_, entry,
                    {"name", "type", "between", "axis", "axis_b", "length", "on", "restitution", "limit",
                     "limit_torque", "impulse_limit", "breaks", "from", "until"});
  const std::string name = entry_name(entry);
  if (!name.empty())
    register_name_in(names_.constraints, name,
                     reader_.document().locate(entry.value->find("name")->value.mark), entry.place);
  const Field type_field = table.require("type", list_text(link_types, "or"));
  const auto type = type_field ? reader_.choice(type_field, link_types) : std::nullopt;
  if (!type) return;
  const auto only_with = [&](const char* key, std::initializer_list<const char*> types) {
    const Field field = table[key];
    if (!field || std::find(types.begin(), types.end(), *type) != types.end()) return;
    std::vector<std::string> words(types.begin(), types.end());
    reader_.report_found(field, "has no meaning for this link", "type = \"" + *type + "\"",
                         "a link of type " + list_text(words, "or"));
  };
  only_with("axis", {"hinge", "slider"});
  only_with("axis_b", {"hinge"});
  only_with("length", {"rod", "string"});
  only_with("on", {"rolling"});
  only_with("restitution", {"string"});
  const bool distance = *type == "rod" || *type == "string", breaks = breaks_as_a_whole(table, *type);
  if (!breaks) only_with("limit", {"hinge", "slider", "rod", "string"});
  if (!breaks) only_with("impulse_limit", {"hinge", "slider", "rod", "string"});
  only_with("limit_torque", {"hinge", "slider", "weld"});
  if (*type == "rolling") {
    if (const Field field = table["breaks"]; breaks)
      reader_.report_found(field, "a link that rolls does not break", "type = \"rolling\"",
                           "a link of type ball, hinge, slider, weld, rod or string",
                           "friction at the contact lets it slip where the force is too large");
    else
      add_link_rows(entry, table, name, rolling_rows(entry, table), 0, false);
    return;
  }
  const char* const form = "[\"a.p\", \"b.q\"]: bodies, body points, points or anchors";
  const Field between = table.require("between", form);
  const auto items = between ? reader_.array(between, form) : std::nullopt;
  if (!items) return;
  if (items->size() != 2) {
    reader_.report_found(between, "wrong number of entries", std::to_string(items->size()), form);
    return;
  }
  const auto a = read_link_end((*items)[0]), b = read_link_end((*items)[1]);
  if (!a || !b) return;
  if (a->place.size() != b->place.size()) {
    reader_.report_found(between, "ends of different dimensions",
                         "'" + a->name + "' has " + std::to_string(a->place.size()) + " coordinates, '" +
                             b->name + "' has " + std::to_string(b->place.size()),
                         "two ends in the plane, or two in space");
    return;
  }
  if (a->name == b->name || (a->body && a->body == b->body) || (a->is_anchor && b->is_anchor)) {
    reader_.report_found(between,
                         a->is_anchor && b->is_anchor ? "links two anchors" : "links a body with itself",
                         a->name + " and " + b->name, "ends that move against each other");
    return;
  }
  const bool turns = *type == "weld" || *type == "slider" || (*type == "hinge" && a->place.size() == 3);
  for (const auto& end : {*a, *b})
    if (turns && !end.body && !end.is_anchor) {
      reader_.report_found(between, "a point has no orientation", "'" + end.name + "'",
                           "bodies or anchors for a link of type \"" + *type + "\"");
      return;
    }
  const std::vector<LinkRow> rows = link_rows(*type, table, *a, *b);
  std::vector<LinkRow> all = rows;
  const bool dry = table["limit"] && !distance && !breaks;
  if (dry)
    if (const auto row = dry_row(*type, *a, *b, read_link_axis(table, *a))) all.push_back(*row);
  const std::size_t first = description_.conditions.size();
  add_link_rows(entry, table, name, all, all.size() - rows.size(), breaks);
  if (breaks) read_link_limits(table, name, rows, first);
}

// `breaks = true` on a link other than a rod or a string, which break as a constraint does.
bool StudyBuilder::breaks_as_a_whole(const Table& table, const std::string& type) {
  const Field breaks = table["breaks"], torque = table["limit_torque"];
  if (type == "rod" || type == "string") return false;
  const bool whole = breaks && reader_.boolean(breaks).value_or(false);
  if (whole && !table["limit"] && !torque)
    reader_.report(breaks, "a link breaks at its limit, and there is none",
                   "limit = \"...\" of its force beside it, or limit_torque");
  if (!whole && torque)
    reader_.report(torque, "a bound on the torque of a link can only break it", "breaks = true beside it");
  return whole;
}

// The bounds of a link that breaks as a whole: on the norm of its force, and on that of its torque.
void StudyBuilder::read_link_limits(const Table& table, const std::string& name,
                                    const std::vector<LinkRow>& rows, std::size_t first) {
  const auto is_force = [](const LinkRow& row) { return row.is_force; };
  const auto forces = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_force));
  LinkLimitFormula made;
  made.first = first;
  made.rows = rows.size();
  if (const Field impulse = table["impulse_limit"]) made.bears_impulses = read_link_impulse_limit(impulse);
  const auto add = [&](const char* key, const char* suffix, std::size_t from, std::size_t count) {
    const Field field = table[key];
    if (!field) return;
    if (count == 0) {
      reader_.report_found(field, "this link has no torque", "a hinge in the plane", "limit, of its force");
      return;
    }
    made.name = name + suffix;
    made.first_loaded = first + from;
    made.loaded = count;
    made.limit =
        read_coefficient(field, name + "." + key, is_positive, "a limit is positive", "a number > 0");
    description_.link_limits.push_back(made);
  };
  add("limit", "", 0, forces);
  add("limit_torque", ", torque", forces, rows.size() - forces);
}

// Whether the link bears every impulse; otherwise it bears none. A share of an impulse would need a law for its
// direction.
bool StudyBuilder::read_link_impulse_limit(const Field& field) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool all = field.value->is_number() && field.value->number == infinity;
  const bool none = field.value->is_number() && field.value->number == 0;
  if (!all && !none)
    reader_.report(field, "a link of several rows bears every impulse or none",
                   "impulse_limit = inf: shocks never break it; 0: the first shock on it does");
  return all;
}

std::optional<StudyBuilder::LinkEnd> StudyBuilder::read_link_end(const Field& field) {
  LinkEnd end;
  const VectorName* place = place_named(field, end.name);
  if (!place) return {};
  end.place = place->position;
  end.is_anchor = place->is_anchor;
  end.body = body_named(end.name.substr(0, end.name.find('.')));
  return end;
}

std::vector<StudyBuilder::LinkRow> StudyBuilder::link_rows(const std::string& type, const Table& table,
                                                           const LinkEnd& a, const LinkEnd& b) {
  if (type == "rod" || type == "string") return distance_row(table, a, b, type == "string");
  std::vector<LinkRow> rows;
  const auto append = [&](const std::vector<LinkRow>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  if (type != "slider") append(coincidence(a, b));
  if (type == "hinge" && a.place.size() == 3) append(axes_aligned(table, a, b, read_link_axis(table, a)));
  if (type == "slider") append(offset_along(a, b, read_link_axis(table, a)));
  if (type == "slider" || type == "weld") append(no_rotation(a, b));
  return rows;
}

// The rows as constraints; the last `dry` of them, and the row of a rod or string, get the limit. `breaks`: the link
// breaks as a whole.
void StudyBuilder::add_link_rows(const Field& entry, const Table& table, const std::string& name,
                                 const std::vector<LinkRow>& rows, std::size_t dry, bool breaks) {
  std::vector<Expr> forces;
  const std::size_t first = description_.conditions.size();
  const std::string& type = table["type"].value->text;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const LinkRow& row = rows[k];
    ConditionFormula made;
    made.name = name + "." + std::to_string(k + 1);
    made.value = row.value;
    made.holonomic = row.holonomic;
    made.equation = row.equation;
    made.restitution = pool().zero();
    made.end_gradient = row.end_gradient;
    made.radius = row.radius;
    made.difference = row.difference;
    // A rolling shape also touches, by a condition of its own.
    if (type != "rolling") made.link = first;
    if (const Field restitution = table["restitution"]; restitution && !row.equation)
      read_restitution(restitution, made);
    read_time_in_force(table, made);
    made.breaks_with_link = breaks;
    if (breaks && k > 0) made.broken = description_.conditions[first].broken;
    const bool bounded = dry > 0 ? k + dry >= rows.size() : rows.size() == 1 && !breaks;
    if (bounded) read_limit(table, made, true);
    names_.constraints.insert(made.name);
    const std::string row_name = made.name;
    add_condition(entry, std::move(made), {});
    if (row.is_force) forces.push_back(scope_.conditions.find(row_name)->second.reaction);
  }
  if (!forces.empty() && !name.empty()) scope_.links[name] = {length_of(pool(), forces), name + ".1"};
}

}  // namespace zwang
