// Quantile functions: the number below which a draw falls with probability u, for u in (0, 1).
//
// Every distribution is drawn by its quantile function from one uniform number, never by rejection or in
// pairs (Box-Muller): each draw uses exactly one uniform number, under its own name, and is monotone in it.
#pragma once

namespace zwang {

double normal_quantile(double u);                                    // mean 0, standard deviation 1
double uniform_quantile(double a, double b, double u);               // a <= b
double triangular_quantile(double a, double m, double b, double u);  // a <= m <= b
double exponential_quantile(double mean, double u);                  // mean > 0

}  // namespace zwang
