#include "host/sample/sample.h"

#include "host/sample/philox.h"
#include "host/sample/sampler.h"

namespace zwang {

double uniform_draw(unsigned long long seed, unsigned long long member, const std::string& name,
                    unsigned attempt) {
  return uniform_draw(seed, member, name_word(name), attempt);
}

MemberInputs draw_member(const Study& study, unsigned long long member, unsigned attempt) {
  Sampler::Scratch scratch;
  MemberInputs made;
  Sampler(study).draw(member, attempt, scratch, made);
  return made;
}

MemberInputs nominal_member(const Study& study) {
  Sampler::Scratch scratch;
  MemberInputs made;
  Sampler(study).draw_nominal(scratch, made);
  return made;
}

std::vector<std::size_t> drawn_inputs(const Study& study) {
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < study.parameters.size(); ++i)
    if (study.parameters[i].drawn()) drawn.push_back(i);
  return drawn;
}

}  // namespace zwang
