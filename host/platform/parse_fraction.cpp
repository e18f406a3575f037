// Parses fractions and percentages given on the command line.
#include "host/platform/parse_fraction.h"

#include <charconv>

#include "src/base/error.h"

namespace zwang {

double parse_fraction(const std::string& text, const std::string& option) {
  std::string number = text;
  const bool percent = number.ends_with('%');
  if (percent) number.pop_back();
  while (number.ends_with(' ')) number.pop_back();
  double value = -1;
  const char* end = number.data() + number.size();
  const auto [stopped, code] = std::from_chars(number.data(), end, value);
  if (percent) value /= 100;
  if (code == std::errc{} && stopped == end && value >= 0 && value <= 1) return value;
  throw Error({.message = option + ": not a fraction of the members",
               .found = text,
               .expected = "a number from 0 to 1, or a percentage such as 5%"});
}

}  // namespace zwang
