// Text of errors, edit distance for suggestions, numbers and lists as text.
#include "src/base/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace zwang {

std::string Problem::text() const {
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  if (!text.empty()) text += ": ";
  text += "error: " + message;
  if (!found.empty()) text += "\n  found:    " + found;
  if (!expected.empty()) text += "\n  expected: " + expected;
  if (!hint.empty()) text += "\n  hint:     " + hint;
  return text;
}

Error::Error(std::vector<Problem> problems) : problems_(std::move(problems)) {
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  for (const Problem& problem : problems_) text_ += (text_.empty() ? "" : "\n") + problem.text();
}

namespace {

// Insertions, deletions, substitutions and swaps of neighbours, each counted as one: "rnu" is one away from
// "run".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i: distances of the first i characters of a to the first 0, 1, ... characters of b.
  std::vector<std::size_t> before, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Longer words are not compared: they are no misspelling of a known name.
  if (word.size() > 60) return "";
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : "did you mean '" + best + "'?";
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return code == std::errc{} ? std::string(buffer.data(), end) : std::to_string(value);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string list_text(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace zwang
