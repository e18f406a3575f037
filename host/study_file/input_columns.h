// Columns of numbers that a program gives beside the text of a study: row k is for member k, as in a CSV file.
#pragma once

#include <string>
#include <vector>

#include "host/toml/document.h"

namespace zwang {

struct InputColumn {
  std::string name;  // of a parameter, of a component of a [[joint]], or of a draw written in place: load.x
  std::vector<double> values;
};

// All columns are equally long, not empty, finite, and have different names. Throws Error otherwise.
void check_columns(const std::vector<InputColumn>& columns);

// In the document the place of every column gets { file = given_columns_name, column = NAME }. A [[joint]] is
// removed if there is a column for each of its names. Throws Error if a name has no place, or if a joint has
// columns for some of its names only: what the rest would be drawn from is not defined.
void draw_from_columns(Value& root, const std::vector<InputColumn>& columns);

// The number of members becomes that of the rows, unless `overrides` set it or [sensitivity] determines it. The
// assignment for --set, or nothing. With a sweep it is the number at each point, and the number of all members is
// removed.
std::string members_by_rows(Value& root, const std::vector<std::string>& overrides, std::size_t rows);

// Stands for the columns in place of a path. No file of this name can be meant: it is not a CSV file.
constexpr const char* given_columns_name = "inputs=";

}  // namespace zwang
