// Data of the sampling on the device: a straight-line list of operations from random bits to the parameters
// and initial states of members.
#pragma once

namespace zwang {

// Only operations whose result IEEE 754 prescribes to the last bit, so that a GPU and the host draw the same
// values.
enum class DrawOp : int {
  constant,
  add,
  subtract,
  multiply,
  divide,
  negate,
  sqrt,
  absolute,
  sign,
  floor,
  minimum,
  maximum,
  wrap,
  if_less,
  uniform_number,  // the random number of the draw `name`, in (0, 1)
  uniform,         // a, b: ends; c: random number
  triangular,      // a, b, c: ends and mode; d: random number
  normal,          // a, b: mean and standard deviation; c: random number
  choice,          // a: the first of `count` consecutive constants; c: random number
};

// Operation i writes slot i; a to d are slots written before.
struct DrawStep {
  DrawOp op;
  int a, b, c, d;
  int count;
  unsigned name;
  double value;
};
constexpr int most_draw_steps = 160;  // limited by the local memory of a thread, which holds the slots

struct DrawJob {
  const DrawStep* steps;
  int count;
  const int* parameter_slots;  // slot of each parameter
  const int* start_slots;      // slot of each of q, v, z
  int parameters, state;
  unsigned long long seed, first;  // first: number of the first member
  double* to_parameters;           // members x parameters
  double* to_starts;               // members x state
  int* to_prepared;                // members
};

}  // namespace zwang
