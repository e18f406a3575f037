// The studies of configs/ and the starter of `zwang new`, carried inside the program: they are there wherever it is.
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
