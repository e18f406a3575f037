// Fuzz target: any bytes as a formula. It is rejected with an Error, or parsed, printed and parsed again,
// differentiated, evaluated in every number type, and emitted inside a system.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "src/expression/derivative.h"
#include "src/expression/interval.h"
#include "src/expression/scaled.h"
#include "tests/fuzz/fuzzed_model.h"
#include "tests/support/system_builder.h"

namespace zwang::fuzz {
namespace {

constexpr std::size_t printed_limit = 20'000;

SystemBuilder small_world() {
  SystemBuilder made;
  made.parameter("p", 0.7).coordinate("x", 0.3, 1.1).coordinate("y", -0.4, 0.2);
  made.point("a", "1", {0.1, 0.2}, {0.5, -1}).anchor("n", {"sin(t)", "p"}).auxiliary("w", 0.2, "x");
  made.kinetic("0.5*(x'^2 + y'^2)").require("c", "x <= 1").watch("e", "x");
  return made;
}

template <class Number>
Number value_of(const Expressions& pool, Expr e) {
  const Number p[] = {Number(0.7)}, q[] = {Number(0.3), Number(-0.4), Number(0.1), Number(0.2)},
               v[] = {Number(1.1), Number(0.2), Number(0.5), Number(-1.0)}, z[] = {Number(0.2)},
               lambda[] = {Number(0.9)}, closed[] = {Number(1.0)};
  return Program(pool, {e}).run<Number>({.time = Number(0.25),
                                         .parameters = p,
                                         .coordinates = q,
                                         .velocities = v,
                                         .auxiliaries = z,
                                         .multipliers = lambda,
                                         .closed = closed})[0];
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Values with rounding scales equal plain values, and intervals contain them.
void evaluate(const Expressions& pool, Expr e) {
  const double value = value_of<double>(pool, e);
  promise(same(value_of<Scaled>(pool, e).value, value), "a value with its rounding is another value");
  value_of<Interval>(pool, e);
}

void try_formula(const std::string& text) {
  SystemBuilder world = small_world();
  Expressions& pool = world.pool();
  const Expr e = world.formula(text);
  evaluate(pool, e);
  for (const Symbol variable : {Symbol{SymbolKind::coordinate, 0}, Symbol{SymbolKind::velocity, 1},
                                Symbol{SymbolKind::time, 0}, Symbol{SymbolKind::parameter, 0}})
    evaluate(pool, derivative(pool, e, variable));
  evaluate(pool, total_derivative(pool, e));
}

void try_in_a_system(const std::string& text) {
  SystemBuilder world = small_world();
  // Forces and conditions contain no reactions; the loader ensures it.
  const Expr e = world.formula(text);
  if (world.pool().mentions(e, SymbolKind::multiplier) || world.pool().mentions(e, SymbolKind::closed))
    return;
  world.force("y", text).require("d", text + " <= 2").measure("maximum(" + text + ")");
  emit_if_small(*world.make().system);
}

// Some texts are valid as a comparison or a measure, but not as a formula.
void try_other_uses(const std::string& text) {
  SystemBuilder world = small_world();
  constexpr unsigned all = ~0U;
  try {
    parse_condition(world.pool(), text, world.scope(), all, {.place = "fuzz"}, true);
  } catch (const Error&) {
  }
  try {
    parse_measure(world.pool(), text, world.scope(), world.measure_scope(), {.place = "fuzz"});
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace zwang::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto attempt :
       {zwang::fuzz::try_formula, zwang::fuzz::try_in_a_system, zwang::fuzz::try_other_uses})
    try {
      attempt(text);
    } catch (const zwang::Error&) {
    }
  return 0;
}
