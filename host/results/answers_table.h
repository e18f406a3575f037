// Tables of probabilities and of conditional statistics for the end of a run.
#pragma once

#include <string>

#include "host/estimators/proportion.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

// Measures that are 0 or 1: "20 of 20 000   0.001   0.00065 .. 0.00154". Empty if there are none.
std::string probabilities_text(const Study& study, const RunResult& result);

// The members of each [[given]], and the inputs in which they differ from all members.
std::string givens_text(const Study& study, const RunResult& result);

// The inputs that explain most of each measure's variance, by first-order indices above chance. Empty with
// [sensitivity], whose indices say more.
std::string first_order_text(const Study& study, const RunResult& result);

// Sobol' indices, the largest total index first. Empty without [sensitivity].
std::string sensitivity_text(const Study& study, const RunResult& result);

// "20 of 20 000"
std::string share_text(const Proportion& share);

// "0.00065 .. 0.00154": as many digits as the width of the interval warrants.
std::string interval_text(double low, double high);

}  // namespace zwang
