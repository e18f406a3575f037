// 95 % confidence intervals of means and quantiles.
#pragma once

namespace zwang {

// Half-width of the 95 % interval of a mean in standard errors: the 0.975 quantile of Student's t with this
// number of degrees of freedom. NaN below one.
double student_reach(long long degrees);

// Ranks, counted from 0, of order statistics that enclose the p-quantile of the distribution with a
// probability of at least 95 %: the quantile lies outside on either side with at most 2.5 %. -1 or `count`:
// the sample is too small and that side is open.
struct RankInterval {
  long long low = -1;
  long long high = -1;
};
RankInterval quantile_ranks(long long count, double p);

}  // namespace zwang
