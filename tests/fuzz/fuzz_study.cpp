// Fuzz target: any bytes as a study. It is rejected with an Error, or loaded, sampled, written, loaded again
// as the same study, and emitted.
#include <cstdint>

#include "host/sample/sampler.h"
#include "host/study_file/load_study.h"
#include "host/study_file/write_study.h"
#include "tests/fuzz/fuzzed_model.h"

namespace zwang::fuzz {
namespace {

// A folder that does not exist: no file can be read.
constexpr const char* place = "/nonexistent/zwang/study.toml";

void draw_a_few(const Study& study) try {
  const Sampler sampler(study);
  Sampler::Scratch scratch;
  MemberInputs inputs;
  for (const unsigned long long member : {0ULL, 1ULL, 4242ULL}) sampler.draw(member, 0, scratch, inputs);
  sampler.draw_nominal(scratch, inputs);
} catch (const Error&) {
}

void try_study(const std::string& text) {
  Study study;
  try {
    study = read_study(text, place);
  } catch (const Error& error) {
    promise(!error.problems().empty() && !error.problems().front().message.empty(), "an error without words");
    expect_clean_message(error.what());
    return;
  }
  draw_a_few(study);
  try {
    emit_if_small(*study.system);
  } catch (const Error&) {  // a formula too large to be differentiated
  }
  const std::string written = study_as_run(study);
  try {
    promise(study_as_run(read_study(written, place)) == written, "a study written out reads as another");
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n%s\n", written.c_str(), error.what());
    promise(false, "a study written out does not load");
  }
}

}  // namespace
}  // namespace zwang::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zwang::fuzz::try_study(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
