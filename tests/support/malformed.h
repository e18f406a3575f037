// Tables of malformed studies: each breaks one rule and has the complete message that it must give.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "host/study/study.h"
#include "host/study_file/load_study.h"

namespace zwang {

// The parts that the studies leave out. They are appended, so that lines of the studies are counted from 1.
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
