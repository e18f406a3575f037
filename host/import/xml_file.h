// An XML file with the places of its elements, attributes as numbers, and a list of what nobody read.
#pragma once

#include <Eigen/Dense>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.h"

namespace zwang {

class XmlFile {
 public:
  // Throws Error if the text is not XML; `path` is for messages.
  XmlFile(std::string text, std::string path);

  pugi::xml_node root() const { return document_.document_element(); }
  Location where(const pugi::xml_node& node) const;
  const std::string& path() const { return path_; }

 private:
  std::string text_, path_;
  pugi::xml_document document_;
};

// Elements and attributes that do not enter the study, each kind counted once.
class Omissions {
 public:
  void add(const std::string& what, const Location& where);
  std::vector<std::string> texts() const;  // in the order in which they were found

 private:
  struct Entry {
    std::size_t count = 0;
    int line = 0;  // of the first
  };
  std::vector<std::string> order_;
  std::map<std::string, Entry> entries_;
};

// Leaves out an element: "actuator (motor 2 times)" for a section, "site" for one without children.
void omit_element(const XmlFile& file, const pugi::xml_node& node, Omissions& omissions);

// The attributes of an element, after those of a default class where there is one.
class Attributes {
 public:
  Attributes(const XmlFile& file, const pugi::xml_node& node);

  // Attributes of a default come before those of the element and are replaced by them.
  void add_default(const std::string& name, const std::string& value);

  const Location& where() const { return where_; }
  // "joint 'elbow'"; without a name "joint".
  std::string label() const;

  bool has(const std::string& name) const { return values_.contains(name); }
  std::optional<std::string> text(const std::string& name);
  std::string required_text(const std::string& name, const std::string& expected);
  std::optional<double> number(const std::string& name);
  double number_or(const std::string& name, double otherwise);
  // Between `least` and `most` numbers separated by blanks.
  std::optional<std::vector<double>> numbers(const std::string& name, std::size_t least, std::size_t most);
  Eigen::Vector3d vector_or(const std::string& name, const Eigen::Vector3d& otherwise);

  // Names every attribute that was not read; those of `silent` say nothing about the motion.
  void omit_rest(Omissions& omissions, const std::set<std::string>& silent = {}) const;

  [[noreturn]] void refuse(const std::string& message, const std::string& found, const std::string& expected,
                           const std::string& hint = "") const;

 private:
  std::string element_;
  Location where_;
  std::map<std::string, std::string> values_;
  std::set<std::string> read_;
};

// A finite number > 0, or an error.
double require_positive(const Attributes& attributes, const std::string& name, double value);
double require_not_negative(const Attributes& attributes, const std::string& name, double value);
// A unit vector; an error for length 0.
Eigen::Vector3d require_direction(const Attributes& attributes, const std::string& name,
                                  const Eigen::Vector3d& value);

}  // namespace zwang
