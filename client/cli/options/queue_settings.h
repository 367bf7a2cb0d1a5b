// The settings of a queue as options: one per field of QueueSettings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "skiplane/v1/queue.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

// Texts by the path of the field that they set, as they were given.
class SettingTexts {
 public:
  void Set(const std::string& path, const std::string& text) { texts_[path] = text; }
  // "NAME [SETTING=VALUE]...", with the words of the options as names of settings.
  void AddStage(const std::string& text) { stages_.push_back(text); }
  bool has_stages() const { return !stages_.empty(); }

  // A usage error names the option whose text is wrong. Stages keep what they have in `known`, by
  // their names, and a renamed one by its place.
  absl::Status Put(v1::QueueSettings& settings, const v1::QueueSettings& known = {}) const;

  // For an update mask.
  std::vector<std::string> Paths() const;

 private:
  std::map<std::string, std::string> texts_;
  std::vector<std::string> stages_;
};

// Adds --max-attempts, --retry and so on.
void AddSettings(CLI::App* app, SettingTexts* texts);

}  // namespace skiplane::cli
