// Malformed studies: tables of studies that break one rule each, with the whole message they must give.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang {

// The parts the studies leave out, appended to their text so that their lines are counted from 1.
inline const std::string nothing;
inline const std::string ball = R"([[point]]
name = "ball"
mass = 1
position = [0, 0]
)";
inline const std::string time_alone = R"([time]
end = 1
)";
inline const std::string ball_and_time = ball + time_alone;

inline std::string message_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read_study(text, "study.toml", overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

struct Malformed {
  std::string name, text, rest, message;
};

class MalformedStudy : public testing::TestWithParam<Malformed> {};

inline std::string malformed_name(const testing::TestParamInfo<Malformed>& test) {
  std::string name = test.param.name;
  std::erase_if(name, [](char c) { return c == ',' || c == '-'; });
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

}  // namespace zwang
