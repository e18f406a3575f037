// Intervals that hold the truth in 95 of 100 ensembles.
#pragma once

namespace zwang {

// The distance, in standard errors, to which a 95 % interval of a mean reaches on either side: the 0.975 quantile of
// Student's t with so many degrees of freedom. NaN below one.
double student_reach(long long degrees);

// Order statistics, counted from 0, that enclose the p-quantile of the distribution with at least 95 %: at most 2.5 %
// of all samples of this size lie wholly on either side. -1 or `count`: the sample is too small, that side is open.
struct RankInterval {
  long long low = -1;
  long long high = -1;
};
RankInterval quantile_ranks(long long count, double p);

}  // namespace zwang
