// Uniform numbers by sampler kind.
#include "host/sample/uniform.h"

#include <cassert>
#include <limits>

#include "host/sample/philox.h"
#include "host/sample/sobol.h"

namespace zwang {

namespace {

// Enough replicates for a standard error from their means (accurate to about 20 %), few enough that each
// keeps the evenness of a Sobol sequence. The number is fixed and members take replicates in turn, so that a
// member does not change when the ensemble grows.
constexpr std::uint64_t sobol_replicates = 16;

}  // namespace

UniformSource::UniformSource(const EnsembleSettings& ensemble, const std::vector<std::string>& names)
    : kind_(ensemble.sampler), seed_(ensemble.seed), first_(ensemble.include_nominal ? 1 : 0), count_(0) {
  if (ensemble.members > 0 && static_cast<std::uint64_t>(ensemble.members) > first_)
    count_ = static_cast<std::uint64_t>(ensemble.members) - first_;
  for (const std::string& name : names) names_.push_back(name_word(name));
  if (kind_ == SamplerKind::latin_hypercube && count_ > 0)
    for (const std::uint32_t name : names_) strata_.emplace_back(seed_, name, count_);
}

std::uint64_t UniformSource::limit() const {
  return kind_ == SamplerKind::latin_hypercube ? first_ + count_ : std::numeric_limits<std::uint64_t>::max();
}

double UniformSource::operator()(std::size_t dimension, std::uint64_t member, unsigned attempt) const {
  assert(dimension < names_.size() && member >= first_ && member < limit());
  const std::uint32_t name = names_[dimension];
  const std::uint64_t k = member - first_;
  if (kind_ == SamplerKind::sobol && attempt == 0) {
    const ScrambleKey key{seed_, name, static_cast<std::uint32_t>(k % sobol_replicates)};
    return cell_midpoint(owen_scramble(sobol_coordinate(k / sobol_replicates, dimension), key));
  }
  const double u = uniform_draw(seed_, member, name, attempt);
  if (kind_ == SamplerKind::latin_hypercube && attempt == 0)
    return within_stratum(strata_[dimension](k), count_, u);
  return u;
}

unsigned UniformSource::replicates() const { return kind_ == SamplerKind::sobol ? sobol_replicates : 1; }

unsigned UniformSource::replicate_of(std::uint64_t member) const {
  if (kind_ != SamplerKind::sobol || member < first_) return 0;
  return static_cast<unsigned>((member - first_) % sobol_replicates);
}

}  // namespace zwang
