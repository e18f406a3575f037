#include "host/study_file/input_columns.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

[[noreturn]] void refuse_column(const std::string& message, const std::string& found,
                                const std::string& expected, const std::string& hint = "") {
  throw Error(
      {.where = {"inputs", 0, 0}, .message = message, .found = found, .expected = expected, .hint = hint});
}

std::string name_in(const Value& table) {
  const Entry* name = table.find("name");
  return name && name->value.kind == Value::Kind::string ? name->value.text : "";
}

// The table of [[key]] with this name, or null.
Value* named_table(Value& root, const std::string& key, const std::string& name) {
  Entry* list = root.find(key);
  if (!list || name.empty()) return nullptr;
  for (Value& table : list->value.items)
    if (name_in(table) == name) return &table;
  return nullptr;
}

Value zero() {
  Value made;
  made.kind = Value::Kind::integer;
  return made;
}

// The value of a key, which is added if it is missing.
Value& value_of(Value& table, const std::string& key) {
  if (Entry* entry = table.find(key)) return entry->value;
  table.entries.push_back({key, table.mark, zero()});
  table.entries.back().value.mark = table.mark;
  return table.entries.back().value;
}

// Component x, y or z of `position` or `velocity`, or null if there is no such component.
Value* component_of(Value& body, const std::string& key, std::size_t component) {
  const Entry* position = body.find("position");
  if (!position || component >= position->value.items.size()) return nullptr;
  const std::size_t dimension = position->value.items.size();
  Value& list = value_of(body, key);
  if (list.kind != Value::Kind::array) {
    list.kind = Value::Kind::array;
    list.items.assign(dimension, zero());
  }
  return component < list.items.size() ? &list.items[component] : nullptr;
}

// The place of a draw written in place: load.x, load.x', angle, angle', state, cable.restitution.
Value* place_in_bodies(Value& root, const std::string& name) {
  const bool rate = name.ends_with('\'');
  const std::string plain = rate ? name.substr(0, name.size() - 1) : name,
                    key = rate ? "velocity" : "position";
  if (Value* coordinate = named_table(root, "coordinate", plain)) return &value_of(*coordinate, key);
  if (Value* state = rate ? nullptr : named_table(root, "auxiliary", plain))
    return &value_of(*state, "initial");
  const std::size_t dot = plain.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const std::string body = plain.substr(0, dot), part = plain.substr(dot + 1);
  if (part == "restitution" && !rate)
    if (Value* constraint = named_table(root, "constraint", body)) return &value_of(*constraint, part);
  const std::size_t component = part.size() == 1 ? std::string("xyz").find(part) : std::string::npos;
  if (component == std::string::npos) return nullptr;
  if (Value* point = named_table(root, "point", body)) return component_of(*point, key, component);
  Value* anchor = rate ? nullptr : named_table(root, "anchor", body);
  return anchor ? component_of(*anchor, key, component) : nullptr;
}

// Names that a column may have, for messages.
std::vector<std::string> names_of_columns(const Value& root) {
  std::vector<std::string> names;
  if (const Entry* parameters = root.find("parameters"))
    for (const Entry& entry : parameters->value.entries) names.push_back(printable(entry.key));
  if (const Entry* joints = root.find("joint"))
    for (const Value& joint : joints->value.items)
      if (const Entry* list = joint.find("names"))
        for (const Value& name : list->value.items) names.push_back(printable(name.text));
  for (const char* key : {"anchor", "point"})
    if (const Entry* bodies = root.find(key))
      for (const Value& body : bodies->value.items)
        if (const Entry* position = body.find("position"))
          for (std::size_t k = 0; k < position->value.items.size() && k < 3; ++k)
            names.push_back(printable(name_in(body)) + "." + "xyz"[k]);
  for (const char* key : {"coordinate", "auxiliary"})
    if (const Entry* bodies = root.find(key))
      for (const Value& body : bodies->value.items) names.push_back(printable(name_in(body)));
  return names;
}

void put_column(Value& place, const std::string& name) {
  const auto text = [&](const std::string& word) {
    Value made;
    made.kind = Value::Kind::string;
    made.mark = place.mark;
    made.text = word;
    return made;
  };
  Value drawn;
  drawn.mark = place.mark;
  drawn.set_path = place.set_path;
  drawn.entries = {{"file", place.mark, text(given_columns_name)}, {"column", place.mark, text(name)}};
  place = std::move(drawn);
}

// Removes the joints that columns replace, and adds their names to [parameters].
void replace_joints(Value& root, const std::set<std::string>& given) {
  Entry* joints = root.find("joint");
  if (!joints || joints->value.kind != Value::Kind::array) return;
  std::vector<Entry> added;
  std::erase_if(joints->value.items, [&](const Value& joint) {
    const Entry* list = joint.find("names");
    if (!list) return false;
    std::vector<std::string> have, lack;
    for (const Value& name : list->value.items)
      (given.contains(name.text) ? have : lack).push_back(name.text);
    if (have.empty()) return false;
    if (!lack.empty())
      refuse_column("columns for some names of a [[joint]] only", list_text(have),
                    "columns for " + list_text(lack) + " too, or for none of them",
                    "the names of a joint are drawn together");
    for (const std::string& name : have) added.push_back({name, joint.mark, zero()});
    return true;
  });
  if (joints->value.items.empty())
    std::erase_if(root.entries, [](const Entry& e) { return e.key == "joint"; });
  if (added.empty()) return;
  if (!root.find("parameters")) root.entries.push_back({"parameters", {1, 1}, {}});
  std::vector<Entry>& parameters = root.find("parameters")->value.entries;
  // First, as a joint of plain numbers: parameters may use them.
  for (Entry& entry : added) {
    entry.value.mark = entry.mark;
    std::erase_if(parameters, [&](const Entry& old) { return old.key == entry.key; });
  }
  parameters.insert(parameters.begin(), added.begin(), added.end());
}

// A number's place that holds { sweep = ... }, or an array with such places.
bool is_swept(const Value& value) {
  return (value.kind == Value::Kind::table && value.find("sweep")) ||
         std::any_of(value.items.begin(), value.items.end(), is_swept);
}

bool has_sweep(const Value& root) {
  const auto swept = [](const Value& table) {
    return std::any_of(table.entries.begin(), table.entries.end(),
                       [](const Entry& entry) { return is_swept(entry.value); });
  };
  if (const Entry* parameters = root.find("parameters"); parameters && swept(parameters->value)) return true;
  for (const char* key : {"anchor", "point", "coordinate", "auxiliary", "constraint"})
    if (const Entry* list = root.find(key))
      if (std::any_of(list->value.items.begin(), list->value.items.end(), swept)) return true;
  return false;
}

}  // namespace

void check_columns(const std::vector<InputColumn>& columns) {
  std::set<std::string> names;
  for (const InputColumn& column : columns) {
    const std::string shown_name = "column '" + printable(column.name) + "'";
    if (!names.insert(column.name).second)
      refuse_column(shown_name + " is given twice", "", "different names");
    const std::vector<double>& first = columns.front().values;
    if (column.values.size() != first.size())
      refuse_column(shown_name + " has another length", std::to_string(column.values.size()) + " rows",
                    std::to_string(first.size()) + " rows, as in column '" + printable(columns.front().name) +
                        "': one for each member");
    if (column.values.empty()) refuse_column(shown_name + " is empty", "0 rows", "one row for each member");
    const auto wrong = std::find_if(column.values.begin(), column.values.end(),
                                    [](double value) { return !std::isfinite(value); });
    if (wrong != column.values.end())
      refuse_column(
          "row " + std::to_string(wrong - column.values.begin()) + " of " + shown_name + " is not finite",
          number_text(*wrong), "a finite number for each member");
  }
}

void draw_from_columns(Value& root, const std::vector<InputColumn>& columns) {
  std::set<std::string> given;
  for (const InputColumn& column : columns) given.insert(column.name);
  replace_joints(root, given);
  for (const InputColumn& column : columns) {
    Entry* parameters = root.find("parameters");
    Entry* parameter = parameters ? parameters->value.find(column.name) : nullptr;
    Value* place = parameter ? &parameter->value : place_in_bodies(root, column.name);
    if (!place) {
      const std::vector<std::string> names = names_of_columns(root);
      refuse_column("the study has no parameter and no draw of this name", printable(column.name),
                    "one of: " + list_text(names, "or"), suggestion(column.name, names));
    }
    put_column(*place, column.name);
  }
}

std::string members_by_rows(Value& root, const std::vector<std::string>& overrides, std::size_t rows) {
  if (root.find("sensitivity")) return "";
  if (std::any_of(overrides.begin(), overrides.end(),
                  [](const std::string& text) { return text.starts_with("ensemble.members"); }))
    return "";
  Entry* ensemble = root.find("ensemble");
  const Entry* streams = ensemble ? ensemble->value.find("streams") : nullptr;
  const bool sweep = has_sweep(root);
  // One row for each member of all points: their number is then the study's.
  if (sweep && streams && streams->value.text == "independent") return "";
  if (sweep && ensemble)
    std::erase_if(ensemble->value.entries, [](const Entry& entry) { return entry.key == "members"; });
  return (sweep ? "ensemble.members_per_point=" : "ensemble.members=") + std::to_string(rows);
}

}  // namespace zwang
