// The file of --config: one "name = value" per line, names as the flags without their dashes,
// comments on lines of their own that begin with #. A value is taken as it stands, with # and
// spaces and commas; quotes around the whole of it are dropped. What is wrong is blamed on its
// line: CLI11 by itself blames the flag.
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
  // Of the flags of `app`, which must outlive it.
  explicit SettingsFile(CLI::App* app);

  // Leaves out what the environment says: CLI11 by itself lets the file win. Throws
  // CLI::ConfigError for a name that is no setting's or stands there twice, and for a value that
  // its check refuses.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  // What one line says; nothing for a comment.
  std::vector<CLI::ConfigItem> ReadLine(const std::string& line) const;
  // The setting of this name. Throws.
  CLI::Option* Find(const std::string& name) const;
  // The names of all settings, for messages.
  std::string Names() const;

  CLI::App* const app_;
};

// Whether the environment says it.
bool IsInEnvironment(const std::string& flag);

}  // namespace skiplane::config
