// Sums as text, with as few terms as the directions allow.
#include "host/import/formula_text.h"

#include <Eigen/Dense>
#include <cmath>

#include "src/base/error.h"

namespace zwang {

namespace {

const char* const letters = "xyz";

std::string dot_words(const std::string& a, const std::string& b) { return "dot(" + a + ", " + b + ")"; }

}  // namespace

double tidy_number(double value) {
  if (std::abs(value) < 1e-15) return 0;
  const double whole = std::round(value);
  return std::abs(value - whole) < 4e-16 * std::max(1.0, std::abs(whole)) ? whole : value;
}

void SumText::add(double factor, const std::string& word) {
  factor = tidy_number(factor);
  if (factor == 0) return;
  for (auto term = terms_.begin(); term != terms_.end(); ++term)
    if (term->second == word) {
      term->first += factor;
      if (term->first == 0) terms_.erase(term);
      return;
    }
  terms_.emplace_back(factor, word);
}

void SumText::add(double factor, const SumText& other) {
  for (const auto& [inner, word] : other.terms_) add(factor * inner, word);
  number_ += factor * other.number_;
}

std::string SumText::text() const {
  std::string made;
  const auto append = [&](double value, const std::string& rest) {
    made += made.empty() ? (value < 0 ? "-" : "") : (value < 0 ? " - " : " + ");
    made += rest;
  };
  for (const auto& [factor, word] : terms_) {
    const double size = std::abs(factor);
    append(factor, size == 1 ? word : number_text(size) + "*" + word);
  }
  const double rest = tidy_number(number_);
  if (rest != 0 || made.empty()) append(rest, number_text(std::abs(rest)));
  return made;
}

std::string SumText::factor_text() const {
  const bool alone = terms_.size() == 1 && tidy_number(number_) == 0 && terms_[0].first == 1;
  return alone ? text() : "(" + text() + ")";
}

std::string axis_word(const std::string& body, Eigen::Index k) { return body + ".e" + letters[k]; }

std::string component_word(const std::string& place, Eigen::Index k) { return place + "." + letters[k]; }

SumText dot_text(const JointSide& a, const Eigen::VectorXd& u, const JointSide& b, const Eigen::VectorXd& v) {
  SumText made;
  if (a.body.empty() && b.body.empty()) return SumText(u.dot(v));
  if (a.body == b.body) return SumText(u.dot(v));
  for (Eigen::Index i = 0; i < u.size(); ++i)
    for (Eigen::Index j = 0; j < v.size(); ++j) {
      const double factor = tidy_number(u(i)) * tidy_number(v(j));
      if (a.body.empty())
        made.add(factor, component_word(axis_word(b.body, j), i));
      else if (b.body.empty())
        made.add(factor, component_word(axis_word(a.body, i), j));
      else
        made.add(factor, dot_words(axis_word(a.body, i), axis_word(b.body, j)));
    }
  return made;
}

namespace {

// The component of one place along a direction of a side; `rate` gives its time derivative.
SumText place_along(const JointSide& a, const Eigen::VectorXd& u, const JointSide& of, bool rate) {
  SumText made;
  for (Eigen::Index k = 0; k < u.size(); ++k) {
    const double factor = tidy_number(u(k));
    if (factor == 0) continue;
    if (a.body.empty()) {
      if (of.body.empty())
        made.add(rate ? 0 : factor * of.anchor(k));
      else
        made.add(factor, component_word(of.place, k) + (rate ? "'" : ""));
      continue;
    }
    const std::string axis = axis_word(a.body, k);
    if (!rate) {
      made.add(factor, dot_words(axis, of.place));
      continue;
    }
    made.add(factor, dot_words(axis + "'", of.place));
    if (!of.body.empty()) made.add(factor, dot_words(axis, of.place + "'"));
  }
  return made;
}

}  // namespace

SumText offset_text(const JointSide& a, const Eigen::VectorXd& u, const JointSide& b) {
  SumText made = place_along(a, u, b, false);
  made.add(-1, place_along(a, u, a, false));
  return made;
}

SumText offset_rate_text(const JointSide& a, const Eigen::VectorXd& u, const JointSide& b) {
  SumText made = place_along(a, u, b, true);
  made.add(-1, place_along(a, u, a, true));
  return made;
}

SumText spin_text(const JointSide& of, const JointSide& a, const Eigen::VectorXd& u) {
  SumText made;
  if (of.body.empty()) return made;
  for (Eigen::Index k = 0; k < u.size(); ++k) {
    if (a.body.empty())
      made.add(u(k), component_word(of.body + ".spin", k));
    else if (a.body == of.body)
      made.add(u(k), of.body + ".w" + letters[k]);
    else
      made.add(u(k), dot_words(axis_word(a.body, k), of.body + ".spin"));
  }
  return made;
}

std::string list_of_numbers(const Eigen::VectorXd& v) {
  std::string made = "[";
  for (Eigen::Index k = 0; k < v.size(); ++k) made += (k > 0 ? ", " : "") + number_text(tidy_number(v(k)));
  return made + "]";
}

}  // namespace zwang
