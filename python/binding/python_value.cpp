#include "python/binding/python_value.h"

#include <nanobind/stl/string.h>

#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang::python {

namespace nb = nanobind;

namespace {

// A study has few levels; an object that contains itself has no end.
constexpr int deepest = 32;

[[noreturn]] void refuse_object(nb::handle object, const std::string& place, const std::string& found = "") {
  const std::string type = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
  throw Error({.where = {"dict", 0, 0},
               .message = (place.empty() ? "the study" : printable(place)) + ": not a value of a study",
               .found = found.empty() ? "an object of type " + printable(type) : found,
               .expected = "a dict, a list, a str, a bool, an int or a float",
               .hint = object.is_none() ? "leave the key out" : ""});
}

Value converted(nb::handle object, const std::string& place, int depth);

Value table_of_dict(nb::handle object, const std::string& place, int depth) {
  Value made;
  for (const auto& [key, value] : nb::cast<nb::dict>(object)) {
    if (!nb::isinstance<nb::str>(key)) refuse_object(key, place + " (a key)");
    const std::string name = nb::cast<std::string>(key);
    made.entries.push_back({name, {}, converted(value, place.empty() ? name : place + "." + name, depth)});
  }
  return made;
}

Value array_of_sequence(nb::handle object, const std::string& place, int depth) {
  Value made;
  made.kind = Value::Kind::array;
  std::size_t number = 0;
  for (const nb::handle item : object)
    made.items.push_back(converted(item, place + "." + std::to_string(number++), depth));
  return made;
}

Value number_of(nb::handle object, const std::string& place) {
  Value made;
  if (nb::isinstance<nb::float_>(object)) {
    made.kind = Value::Kind::real;
    made.number = nb::cast<double>(object);
    return made;
  }
  made.kind = Value::Kind::integer;
  // TOML integers have 64 bits.
  if (!nb::try_cast(object, made.integer))
    refuse_object(object, place, nb::cast<std::string>(nb::str(object)).substr(0, 40));
  made.number = static_cast<double>(made.integer);
  return made;
}

Value converted(nb::handle object, const std::string& place, int depth) {
  if (depth > deepest) refuse_object(object, place, "a dict or list within itself");
  if (nb::isinstance<nb::dict>(object)) return table_of_dict(object, place, depth + 1);
  if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object))
    return array_of_sequence(object, place, depth + 1);
  Value made;
  if (nb::isinstance<nb::str>(object)) {
    made.kind = Value::Kind::string;
    made.text = nb::cast<std::string>(object);
    return made;
  }
  if (nb::isinstance<nb::bool_>(object)) {
    made.kind = Value::Kind::boolean;
    made.integer = nb::cast<bool>(object) ? 1 : 0;
    return made;
  }
  if (nb::isinstance<nb::int_>(object) || nb::isinstance<nb::float_>(object)) return number_of(object, place);
  // Arrays and scalars of NumPy, series of pandas.
  if (nb::hasattr(object, "tolist")) return converted(object.attr("tolist")(), place, depth + 1);
  if (nb::hasattr(object, "__fspath__")) return converted(nb::str(object), place, depth + 1);
  refuse_object(object, place);
}

}  // namespace

Value value_of(nb::handle object, const std::string& place) { return converted(object, place, 0); }

}  // namespace zwang::python
