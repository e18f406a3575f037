// The studies of configs/ and the starter file of `zwang new`, embedded in the program so that no other file
// is needed at run time.
#pragma once

#include <span>
#include <string_view>

namespace zwang {

struct ConfigFile {
  std::string_view name;  // "configs/slung_load.toml"
  std::string_view text;
};

std::span<const ConfigFile> config_files();

}  // namespace zwang
