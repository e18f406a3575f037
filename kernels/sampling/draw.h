// Draws the parameters and the initial state of one member by a list of operations (sampling/draw_layout.h).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/sampling/draw_layout.h"
#include "kernels/sampling/normal_quantile.h"

namespace zwang {

struct DrawnWords {
  unsigned word[4];
};

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011): ten rounds of two multiplications; the key advances by
// Weyl constants. host/sample/philox.h documents the contents of key and counter.
ZWANG_INLINE DrawnWords philox_words(unsigned long long seed, unsigned long long number, unsigned name,
                                     unsigned use) {
  constexpr unsigned long long low = 0xffffffffULL;
  unsigned x0 = static_cast<unsigned>(number & low), x1 = static_cast<unsigned>(number >> 32);
  unsigned x2 = name, x3 = use;
  unsigned key0 = static_cast<unsigned>(seed & low), key1 = static_cast<unsigned>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p = 0xd2511f53ULL * x0, q = 0xcd9e8d57ULL * x2;
    x0 = static_cast<unsigned>(q >> 32) ^ x1 ^ key0;
    x2 = static_cast<unsigned>(p >> 32) ^ x3 ^ key1;
    x1 = static_cast<unsigned>(q & low);
    x3 = static_cast<unsigned>(p & low);
    key0 += 0x9e3779b9U;
    key1 += 0xbb67ae85U;
  }
  return {{x0, x1, x2, x3}};
}

// The midpoint of one of 2^52 equal cells of (0, 1), the same as uniform_draw() on the host.
ZWANG_INLINE double drawn_uniform(unsigned long long seed, unsigned long long member, unsigned name) {
  const DrawnWords words = philox_words(seed, member, name, 0);
  const unsigned long long bits = static_cast<unsigned long long>(words.word[0]) << 32 | words.word[1];
  return static_cast<double>((bits >> 12) << 1 | 1U) * 0x1p-53;
}

// Quantile functions, the same as those of host/sample/quantile.cpp.
ZWANG_INLINE double drawn_from_uniform(double a, double b, double u) {
  const double x = a + (b - a) * u;
  return x < b ? x : b;
}

ZWANG_INLINE double drawn_from_triangle(double a, double m, double b, double u) {
  const double w = b - a;
  if (w == 0) return a;
  const double rising = (m - a) / w, falling = (b - m) / w;
  if (u <= rising) {
    const double x = a + w * sqrt(u * rising);
    return x < m ? x : m;
  }
  const double x = b - w * sqrt((1 - u) * falling);
  return m < x ? x : m;
}

ZWANG_INLINE int drawn_entry(double u, int count) {
  const int entry = static_cast<int>(u * double(count));
  return entry < count - 1 ? entry : count - 1;
}

ZWANG_INLINE double drawn_value(const DrawJob& job, unsigned long long member, const DrawStep& step,
                                const double* slots) {
  const double a = slots[step.a], b = slots[step.b], c = slots[step.c], d = slots[step.d];
  switch (step.op) {
    case DrawOp::constant:
      return step.value;
    case DrawOp::add:
      return a + b;
    case DrawOp::subtract:
      return a - b;
    case DrawOp::multiply:
      return a * b;
    case DrawOp::divide:
      return a / b;
    case DrawOp::negate:
      return -a;
    case DrawOp::sqrt:
      return sqrt(a);
    case DrawOp::absolute:
      return absolute(a);
    case DrawOp::sign:
      return sign(a);
    case DrawOp::floor:
      return round_down(a);
    case DrawOp::minimum:
      return minimum(a, b);
    case DrawOp::maximum:
      return maximum(a, b);
    case DrawOp::wrap:
      return wrap(a, b);
    case DrawOp::if_less:
      return a < b ? c : d;
    case DrawOp::uniform_number:
      return drawn_uniform(job.seed, member, step.name);
    case DrawOp::uniform:
      return drawn_from_uniform(a, b, c);
    case DrawOp::triangular:
      return drawn_from_triangle(a, c, b, d);
    case DrawOp::normal:
      return a + b * plain_normal_quantile(c);
    case DrawOp::choice:
      return slots[step.a + drawn_entry(c, step.count)];
  }
  return missing<double>();
}

// i: member of the batch.
ZWANG_INLINE void draw_member_there(const DrawJob& job, long long i) {
  double slots[most_draw_steps];
  slots[0] = 0;
  const unsigned long long member = job.first + static_cast<unsigned long long>(i);
  for (int k = 0; k < job.count; ++k) slots[k] = drawn_value(job, member, job.steps[k], slots);
  for (int p = 0; p < job.parameters; ++p)
    job.to_parameters[i * job.parameters + p] = slots[job.parameter_slots[p]];
  for (int s = 0; s < job.state; ++s) job.to_starts[i * job.state + s] = slots[job.start_slots[s]];
  job.to_prepared[i] = 0;
}

}  // namespace zwang
