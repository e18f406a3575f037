// Emitted models compiled into one library, with every function callable by its name.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/platform/private_files.h"
#include "host/program/host_compiler.h"
#include "host/program/loaded_program.h"
#include "src/emit/emit.h"
#include "src/system/equations.h"

namespace zwang {

// The arguments of a call.
struct CallPoint {
  std::vector<double> parameters;
  State state;
  std::vector<double> lambda, held;
};

class EmittedModels {
 public:
  static constexpr std::size_t results = 8192;  // room for the results of any function
  using Function = void(const char* name, const double* p, double t, const double* q, const double* v,
                        const double* z, const double* lambda, const double* held, int i, double* out);

  // One library for all systems, since most of the compile time is start-up. kinds: "plain"; "pack", whose
  // last lane is read while the others hold other conditions; "alone", a pack with equal lanes; "scaled";
  // "single".
  EmittedModels(const std::vector<const System*>& systems, const std::vector<std::string>& kinds) {
    // Sines and cosines by the library in all kinds: those of packs differ from it in the last digit.
    std::string text =
        "#include \"kernels/base/portable.h\"\n#undef ZWANG_FUSES\n#define ZWANG_FUSES 0\n"
        "#include \"kernels/simd/pack.h\"\n#include \"kernels/base/scaled.h\"\n"
        "#include \"kernels/dynamics/sparse_elimination.h\"\nnamespace zwang {\n";
    text += driver;
    for (std::size_t i = 0; i < systems.size(); ++i) {
      const std::string space = "model_" + std::to_string(i);
      text += "namespace " + space + " {\n" + emit_model(*systems[i]).text + "}\n";
      for (const std::string& kind : kinds) text += entry(space, kind);
    }
    // A name of its own: a library of the same name that is still loaded would be taken for this one.
    const TemporaryFolder folder;
    const std::filesystem::path library = folder.path() / "models.so";
    // The emitted text must compile without warnings. -Wno-psabi: packs as arguments, which are all inlined.
    const ProgramText program{{{"models.cpp", text + "}\n"}},
                              {"models.cpp"},
                              {"-std=c++17", "-O0", "-ffp-contract=off", "-Wall", "-Wextra", "-Wshadow",
                               "-Wold-style-cast", "-Werror", "-Wno-psabi", "-I" ZWANG_SOURCE_DIR}};
    HostCompiler::find().value().compile(program, library);
    loaded_.emplace(library);
  }

  std::vector<double> call(std::size_t model, const std::string& kind, const std::string& name,
                           const CallPoint& at, std::size_t i = 0) const {
    std::vector<double> out(results);
    const std::string symbol = "model_" + std::to_string(model) + "_" + kind;
    loaded_->symbol<Function>(symbol.c_str())(
        name.c_str(), at.parameters.data(), at.state.t, at.state.q.data(), at.state.v.data(),
        at.state.z.data(), at.lambda.data(), at.held.data(), static_cast<int>(i), out.data());
    return out;
  }

 private:
  static std::string entry(const std::string& space, const std::string& kind) {
    const std::map<std::string, std::string> types = {{"plain", "double"},
                                                      {"pack", "Pack<double>"},
                                                      {"alone", "Pack<double>"},
                                                      {"scaled", "Scaled<double>"},
                                                      {"single", "float"}};
    return "extern \"C\" void " + space + "_" + kind +
           "(const char* name, const double* p, double t, const double* q, const double* v, const double* z, "
           "const double* lambda, const double* held, int i, double* out) {\n  neighbours_differ = " +
           (kind == "pack" ? "true" : "false") + ";\n  call<" + space + "::Model, " + types.at(kind) +
           ">(name, p, t, q, v, z, lambda, held, i, out);\n}\n";
  }

  static constexpr const char* driver = R"text(
// Plain numbers as R; in a pack the last lane is the one that is read, the others may hold other conditions.
bool neighbours_differ = false;
template <class R>
R made_of(double x, int) { return R(x); }
template <>
float made_of<float>(double x, int) { return float(x); }
template <>
Pack<double> made_of<Pack<double>>(double x, int i) {
  Pack<double> made(x);
  for (int lane = 0; lane + 1 < Pack<double>::count; ++lane)
    if (neighbours_differ && i >= 0) set_lane(made, lane, double((i + lane) % 2));
  return made;
}
double plain(double x) { return x; }
double plain(float x) { return double(x); }
double plain(const Pack<double>& x) { return lane_of(x, Pack<double>::count - 1); }
double plain(const Scaled<double>& x) { return x.value; }
bool same(const char* a, const char* b) {
  for (; *a && *a == *b; ++a) ++b;
  return *a == *b;
}

template <class M, class R>
void call_free_motion(const char* name, const R* k, R t, const R* q, const R* v, const R* z, R* out) {
  if constexpr (M::has_free_motion && !(sizeof(R) == sizeof(Scaled<double>) && Lanes<R>::count == 1)) {
    R w[at_least_one(M::drives)];
    if constexpr (M::drives > 0) M::drive(k, t, w);
    if (same(name, "free_motion")) M::free_motion(k, t, q, v, z, w, out);
  }
}

template <class M, class R>
void call_masked(const char* name, const R* k, R t, const R* q, const R* v, const R* z, const R* held, R* out) {
  if constexpr (M::masked && !(sizeof(R) == sizeof(Scaled<double>) && Lanes<R>::count == 1)) {
    const int size = 2 * M::coordinates + M::auxiliaries + M::integrals + 1, r = M::conditions;
    R w[at_least_one(M::drives)];
    if constexpr (M::drives > 0) M::drive(k, t, w);
    if (same(name, "motion")) M::motion(k, t, q, v, z, w, held, out, out + size);
    if (same(name, "position_step")) M::position_step(k, t, q, v, z, held, out, out + r);
    if (same(name, "velocity_step")) M::velocity_step(k, t, q, v, z, held, out, out + r);
  }
}

template <class M, class R>
void call_tables(const char* name, int i, R* out) {
  const int sizes[] = {M::parameters,  M::coordinates,   M::auxiliaries, M::conditions,    M::integrals,
                       M::signals,     M::watches,       M::impulses,    M::observables,   M::reductions,
                       M::stops,       M::masked,        M::has_free_motion, M::diagonal_mass, M::any_turns,
                       M::any_extremes};
  const int condition[] = {M::is_equation(i), M::is_holonomic(i), M::is_linear(i)};
  const int measure[] = {M::reduction_kind(i), M::reduction_pattern(i), M::reduction_target(i),
                         M::reduction_integral(i)};
  if (same(name, "sizes")) for (int j = 0; j < 16; ++j) out[j] = R(sizes[j]);
  if (same(name, "condition")) for (int j = 0; j < 3; ++j) out[j] = R(condition[j]);
  if (same(name, "measure")) for (int j = 0; j < 4; ++j) out[j] = R(measure[j]);
  if (same(name, "watch_direction")) out[0] = R(M::watch_direction(i));
  if (same(name, "impulse_is_momentum")) out[0] = R(M::impulse_is_momentum(i));
}

template <class M, class R>
void call(const char* name, const double* p_, double t_, const double* q_, const double* v_, const double* z_,
          const double* lambda_, const double* held_, int i, double* result) {
  R p[at_least_one(M::parameters)]{}, k[at_least_one(M::constants)]{}, z[at_least_one(M::auxiliaries)]{};
  R q[at_least_one(M::coordinates)], v[at_least_one(M::coordinates)], out[8192];
  R lambda[at_least_one(M::conditions)]{}, held[at_least_one(M::conditions)]{};
  for (int j = 0; j < M::parameters; ++j) p[j] = made_of<R>(p_[j], -1);
  for (int j = 0; j < M::coordinates; ++j) q[j] = made_of<R>(q_[j], -1), v[j] = made_of<R>(v_[j], -1);
  for (int j = 0; j < M::auxiliaries; ++j) z[j] = made_of<R>(z_[j], -1);
  for (int j = 0; j < M::conditions; ++j) lambda[j] = made_of<R>(lambda_[j], -1), held[j] = made_of<R>(held_[j], j);
  for (R& x : out) x = R(-77);
  const R t = made_of<R>(t_, -1);
  M::make_constants(p, k);
  if constexpr (M::branches > 0) {
    const int first = M::constants - M::branches;
    for (int j = 0; j < M::branches; ++j) k[first + j] = M::branch(k, t, q, v, z, lambda, held, j);
    if (same(name, "branches")) for (int j = 0; j < M::branches; ++j) out[j] = k[first + j];
  }
  if (same(name, "from")) out[0] = M::from(k, i);
  if (same(name, "until")) out[0] = M::until(k, i);
  if (same(name, "restitution")) out[0] = M::restitution(k, i);
  if (same(name, "impulse_time")) out[0] = M::impulse_time(k, i);
  if (same(name, "mass")) M::mass(k, t, q, v, z, out);
  if (same(name, "applied")) M::applied(k, t, q, v, z, out);
  if (same(name, "rates")) M::rates(k, t, q, v, z, lambda, out + 1, out[0]);
  if (same(name, "energies")) M::energies(k, t, q, v, z, out[0], out[1]);
  if (same(name, "impulse")) M::impulse(k, t, q, v, z, i, out);
  if (same(name, "row")) M::row(k, t, q, v, z, i, out[0], out[1], out[2], out + 3);
  if (same(name, "value")) out[0] = M::value(k, t, q, v, z, i);
  if (same(name, "rate")) out[0] = M::rate(k, t, q, v, z, i);
  if (same(name, "reach")) out[0] = M::reach(k, t, q, v, z, i);
  if (same(name, "radius")) out[0] = M::radius(k, t, q, v, z, i);
  if (same(name, "values")) M::values(k, t, q, v, z, out);
  if (same(name, "levels")) M::levels(k, t, q, v, z, out, out + M::conditions);
  if (same(name, "turn_bound")) out[0] = M::turn_bound(k, t, q, v, z);
  if (same(name, "all_signals")) M::all_signals(k, t, q, v, z, lambda, held, out);
  if (same(name, "signal")) out[0] = M::signal(k, t, q, v, z, lambda, held, i);
  if (same(name, "observe")) M::observe(k, t, q, v, z, lambda, held, out);
  if (same(name, "measured")) M::measured(k, t, q, v, z, lambda, held, out);
  if (same(name, "integrands")) M::integrands(k, t, q, v, z, lambda, held, out);
  call_free_motion<M, R>(name, k, t, q, v, z, out);
  call_masked<M, R>(name, k, t, q, v, z, held, out);
  call_tables<M, R>(name, i, out);
  for (int j = 0; j < 8192; ++j) result[j] = plain(out[j]);
}
)text";

  std::optional<LoadedProgram> loaded_;
};

}  // namespace zwang
