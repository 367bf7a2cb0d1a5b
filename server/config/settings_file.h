// The file of --config: one "name = value" per line, names as the flags without their dashes,
// comments on lines of their own that begin with #. A value is taken as it stands, with # and
// spaces and commas; quotes around the whole of it are dropped.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/string_view.h"

namespace skiplane::config {

// The environment variable of a flag: SKIPLANE_METRICS_LISTEN for "metrics-listen".
std::string EnvironmentName(absl::string_view flag);

class SettingsFile : public CLI::ConfigBase {
 public:
  SettingsFile();

  // Leaves out what the environment says: CLI11 by itself lets the file win.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;
};

}  // namespace skiplane::config
