// Reads [[link]]: joints between bodies, points and anchors, expanded to constraints link.1, link.2 ...
#include <algorithm>

#include "host/study_file/builder.h"
#include "host/study_file/document.h"
#include "host/study_file/reader.h"
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
                     "impulse_limit", "breaks", "from", "until"});
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
  only_with("limit", {"hinge", "slider", "rod", "string"});
  // A link of several rows breaks by the size of its force, and all its rows at once; rows break one by one.
  if (const Field breaks = table["breaks"]; breaks && *type != "rod" && *type != "string")
    reader_.report_found(breaks, "a link of several rows does not break", "type = \"" + *type + "\"",
                         "a link of type rod or string",
                         "a rod between the same ends breaks; until ends a link at a given time");
  only_with("impulse_limit", {"hinge", "slider", "rod", "string"});
  if (*type == "rolling") {
    add_link_rows(entry, table, name, rolling_rows(entry, table), 0);
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
  const bool distance = *type == "rod" || *type == "string";
  const bool turns = *type == "weld" || *type == "slider" || (*type == "hinge" && a->place.size() == 3);
  for (const auto& end : {*a, *b})
    if (turns && !end.body && !end.is_anchor) {
      reader_.report_found(between, "a point has no orientation", "'" + end.name + "'",
                           "bodies or anchors for a link of type \"" + *type + "\"");
      return;
    }
  const std::vector<LinkRow> rows = link_rows(*type, table, *a, *b);
  std::vector<LinkRow> all = rows;
  const bool dry = table["limit"] && !distance;
  if (dry)
    if (const auto row = dry_row(*type, *a, *b, read_link_axis(table, *a))) all.push_back(*row);
  add_link_rows(entry, table, name, all, all.size() - rows.size());
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

// The rows as constraints; the last `dry` of them, and the row of a rod or string, get the limit.
void StudyBuilder::add_link_rows(const Field& entry, const Table& table, const std::string& name,
                                 const std::vector<LinkRow>& rows, std::size_t dry) {
  std::vector<Expr> forces;
  const std::size_t first = description_.conditions.size();
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
    if (table["type"].value->text != "rolling") made.link = first;
    if (const Field restitution = table["restitution"]; restitution && !row.equation)
      read_restitution(restitution, made);
    read_time_in_force(table, made);
    const bool bounded = dry > 0 ? k + dry >= rows.size() : rows.size() == 1;
    if (bounded) read_limit(table, made, true);
    names_.constraints.insert(made.name);
    const std::string row_name = made.name;
    add_condition(entry, std::move(made), {});
    if (row.is_force) forces.push_back(scope_.conditions.find(row_name)->second.reaction);
  }
  if (!forces.empty() && !name.empty()) scope_.links[name] = length_of(pool(), forces);
}

}  // namespace zwang
