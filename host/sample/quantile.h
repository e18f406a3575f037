// Quantile functions: the number below which a draw falls with probability u, for u in (0, 1).
//
// Every distribution is drawn by its quantile function from one uniform number, never by rejection or in
// pairs (Box-Muller): one draw is one number under one name, and moves monotonically with it.
// normal_quantile is declared in host/sample/sample.h.
#pragma once

namespace zwang {

double uniform_quantile(double a, double b, double u);               // a <= b
double triangular_quantile(double a, double m, double b, double u);  // a <= m <= b
double exponential_quantile(double mean, double u);                  // mean > 0

}  // namespace zwang
