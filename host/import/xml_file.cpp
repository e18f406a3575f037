// Parses XML by pugixml, and attributes as numbers.
#include "host/import/xml_file.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

XmlFile::XmlFile(std::string text, std::string path) : text_(std::move(text)), path_(std::move(path)) {
  const pugi::xml_parse_result result =
      document_.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) {
    const bool empty = result.status == pugi::status_no_document_element;
    const std::size_t offset = empty || result.offset < 0 ? 0 : static_cast<std::size_t>(result.offset);
    const std::size_t at = std::min(offset, text_.size());
    const std::size_t end = std::min(text_.find('\n', at), at + 40);
    throw Error({.where = location_of_byte(text_, path_, at),
                 .message = std::string("not XML: ") + result.description(),
                 .found = at >= text_.size() ? "the end of the file" : printable(text_.substr(at, end - at)),
                 .expected = "well-formed XML: a URDF file (<robot>) or an MJCF file (<mujoco>)"});
  }
}

Location XmlFile::where(const pugi::xml_node& node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  if (offset < 0) return {path_, 0, 0};
  return location_of_byte(text_, path_, static_cast<std::size_t>(offset));
}

void Omissions::add(const std::string& what, const Location& where) {
  Entry& entry = entries_[what];
  if (entry.count++ > 0) return;
  entry.line = where.line;
  order_.push_back(what);
}

std::vector<std::string> Omissions::texts() const {
  std::vector<std::string> made;
  for (const std::string& what : order_) {
    const Entry& entry = entries_.at(what);
    std::string text = what;
    if (entry.line > 0) text += ", line " + std::to_string(entry.line);
    if (entry.count > 1) text += " (and " + std::to_string(entry.count - 1) + " more)";
    made.push_back(text);
  }
  return made;
}

void omit_element(const XmlFile& file, const pugi::xml_node& node, Omissions& omissions) {
  std::vector<std::string> order;
  std::map<std::string, int> counts;
  for (const pugi::xml_node& child : node.children())
    if (child.type() == pugi::node_element && counts[printable(child.name())]++ == 0)
      order.push_back(printable(child.name()));
  std::string what = "<" + printable(node.name()) + ">";
  if (order.empty() && node.attribute("name")) what += " '" + printable(node.attribute("name").value()) + "'";
  std::vector<std::string> parts;
  for (const std::string& name : order)
    parts.push_back(counts[name] > 1 ? name + " " + std::to_string(counts[name]) + " times" : name);
  if (!parts.empty()) what += " with " + joined(parts);
  omissions.add(what, file.where(node));
}

Attributes::Attributes(const XmlFile& file, const pugi::xml_node& node)
    : element_(node.name()), where_(file.where(node)) {
  for (const pugi::xml_attribute& attribute : node.attributes())
    values_[attribute.name()] = attribute.value();
}

void Attributes::add_default(const std::string& name, const std::string& value) {
  values_.emplace(name, value);
}

std::string Attributes::label() const {
  const auto name = values_.find("name");
  return "<" + element_ + ">" + (name == values_.end() ? "" : " '" + printable(name->second) + "'");
}

void Attributes::refuse(const std::string& message, const std::string& found, const std::string& expected,
                        const std::string& hint) const {
  throw Error({.where = where_,
               .message = label() + ": " + message,
               .found = printable(found),
               .expected = expected,
               .hint = hint});
}

std::optional<std::string> Attributes::text(const std::string& name) {
  read_.insert(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return {};
  return found->second;
}

std::string Attributes::required_text(const std::string& name, const std::string& expected) {
  const auto found = text(name);
  if (!found || found->empty()) refuse("'" + name + "' is missing", "", expected);
  return *found;
}

std::optional<std::vector<double>> Attributes::numbers(const std::string& name, std::size_t least,
                                                       std::size_t most) {
  const auto written = text(name);
  if (!written) return {};
  std::string expected = std::to_string(least);
  if (most > least) expected += " to " + std::to_string(most);
  expected += most == 1 ? " finite number" : " finite numbers, separated by blanks";
  std::vector<double> made;
  const char *at = written->data(), *const end = at + written->size();
  const auto blank = [](char c) { return std::strchr(" \t\r\n", c) != nullptr; };
  while (true) {
    while (at != end && blank(*at)) ++at;
    if (at == end) break;
    if (*at == '+') ++at;
    double value = 0;
    const auto [next, code] = std::from_chars(at, end, value);
    if (code != std::errc{} || !std::isfinite(value) || (next != end && !blank(*next)))
      refuse("'" + name + "' is not a number", *written, expected);
    made.push_back(value);
    at = next;
  }
  if (made.size() < least || made.size() > most)
    refuse("'" + name + "' has the wrong number of entries", *written, expected);
  return made;
}

std::optional<double> Attributes::number(const std::string& name) {
  const auto found = numbers(name, 1, 1);
  if (!found) return {};
  return found->front();
}

double Attributes::number_or(const std::string& name, double otherwise) {
  return number(name).value_or(otherwise);
}

Eigen::Vector3d Attributes::vector_or(const std::string& name, const Eigen::Vector3d& otherwise) {
  const auto found = numbers(name, 3, 3);
  if (!found) return otherwise;
  return {(*found)[0], (*found)[1], (*found)[2]};
}

void Attributes::omit_rest(Omissions& omissions, const std::set<std::string>& silent) const {
  for (const auto& [name, value] : values_)
    if (!read_.contains(name) && !silent.contains(name))
      omissions.add("attribute " + printable(name) + " of <" + element_ + ">", where_);
}

double require_positive(const Attributes& attributes, const std::string& name, double value) {
  if (!(value > 0)) attributes.refuse("'" + name + "' must be positive", number_text(value), "a number > 0");
  return value;
}

double require_not_negative(const Attributes& attributes, const std::string& name, double value) {
  if (!(value >= 0)) attributes.refuse("'" + name + "' is negative", number_text(value), "a number >= 0");
  return value;
}

Eigen::Vector3d require_direction(const Attributes& attributes, const std::string& name,
                                  const Eigen::Vector3d& value) {
  const double length = value.norm();
  if (!(length > 0)) attributes.refuse("'" + name + "' has length 0", "0 0 0", "three numbers, not all 0");
  // Unit vectors along an axis stay as they are written.
  return value / length;
}

}  // namespace zwang
