// Members drawn where they are integrated: straight-line steps that make parameters and starts of random bits.
#pragma once

namespace zwang {

// Only operations whose result IEEE 754 prescribes to the last bit: a GPU and the host agree.
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
  uniform_number,  // of the draw `name`, in (0, 1)
  uniform,         // a, b: ends; c: the number
  triangular,      // a, b, c: ends and mode; d: the number
  normal,          // a, b: mean and standard deviation; c: the number
  choice,          // a: the first of `count` constants in a row; c: the number
};

// What a step makes lies in the slot of its own number; a to d are slots made before.
struct DrawStep {
  DrawOp op;
  int a, b, c, d;
  int count;
  unsigned name;
  double value;
};
constexpr int most_draw_steps = 160;  // they lie in a thread's own memory

struct DrawJob {
  const DrawStep* steps;
  int count;
  const int* parameter_slots;  // which slot each parameter is taken from
  const int* start_slots;      // and each of q, v, z
  int parameters, state;
  unsigned long long seed, first;  // first: number of the first member
  double* to_parameters;           // members x parameters
  double* to_starts;               // members x state
  int* to_prepared;                // members
};

}  // namespace zwang
