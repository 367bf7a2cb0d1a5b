// The settings of a queue as options: one per field of QueueSettings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::cli {

// Texts by the path of the field that they set, as they were given.
class SettingTexts {
 public:
  void Set(const std::string& path, const std::string& text) { texts_[path] = text; }
  void AddStage(const std::string& name) { stages_.push_back(name); }

  // A usage error names the option whose text is wrong.
  absl::Status Put(v1::QueueSettings& settings) const;

  // For an update mask.
  std::vector<std::string> Paths() const;

 private:
  std::map<std::string, std::string> texts_;
  std::vector<std::string> stages_;
};

// Adds --max-attempts, --retry and so on.
void AddSettings(CLI::App* app, SettingTexts* texts);

}  // namespace skiplane::cli
