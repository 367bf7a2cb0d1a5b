#include "client/cli/options/queue_settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/input/option.h"
#include "client/cli/text/field.h"

namespace skiplane::cli {
namespace {

struct Setting {
  const char* option;
  const char* path;
  const char* type;
  const char* help;
};

constexpr std::array kSettings{
    Setting{"--max-attempts", "retry.max_attempts", "N",
            "Attempts of a task that does not say its own number, 1 to 1000"},
    Setting{"--retry", "retry.kind", "WORD",
            "How the delay grows: linear, fixed, exponential or table"},
    Setting{"--base-delay", "retry.base_delay", "DURATION", "The delay that it grows from"},
    Setting{"--max-delay", "retry.max_delay", "DURATION", "No delay is longer than this"},
    Setting{"--factor", "retry.factor", "X", "The growth of exponential delays, 1 to 10"},
    Setting{"--delays", "retry.delays", "DURATION,...", "The delays of --retry table"},
    Setting{"--jitter", "retry.jitter", "X", "Spreads delays over this share, 0 to 0.5"},
    Setting{"--lease-duration", "lease_duration", "DURATION",
            "How long a worker may be silent if it does not say so itself"},
    Setting{"--max-run-duration", "max_run_duration", "DURATION",
            "An attempt that runs longer loses its task"},
    Setting{"--max-payload-bytes", "max_payload_bytes", "N", "The largest payload accepted"},
    Setting{"--history", "history", "WORD",
            "Which attempts leave a history row: all, failures or none"},
    Setting{"--periodic-history", "periodic_history", "WORD", "The same of periodic tasks"},
    Setting{"--history-days", "history_days", "N", "How long history rows and keys are kept"},
    Setting{"--failed-days", "failed_days", "N", "How long failed tasks are kept"},
    Setting{"--keep-payloads", "keep_payloads", "yes|no", "Whether history rows hold payloads"},
    Setting{"--keep-results", "keep_results", "yes|no", "Whether history rows hold results"},
    Setting{"--packing", "packing", "WORD",
            "Whether many tasks may share one row of the database: off or automatic"},
    Setting{"--max-depth", "max_depth", "N|none",
            "How many tasks that are not finished it may have: more are refused"},
    Setting{"--max-bytes", "max_bytes", "N|none", "The same of the bytes of their payloads"},
    Setting{"--max-enqueue-rate", "max_enqueue_rate", "X|none",
            "How many tasks a second each broker takes"},
};

// Of a limit that the queue is not to have any more: its path without a value takes it away.
bool TakesAway(const std::string& path, const std::string& text) {
  return text == "none" &&
         (path == "max_depth" || path == "max_bytes" || path == "max_enqueue_rate");
}

const char* OptionOf(const std::string& path) {
  for (const Setting& setting : kSettings) {
    if (path == setting.path) return setting.option;
  }
  return "";
}

// An unknown word is no path either, and SetField says so.
std::string PathOf(const std::string& word) {
  for (const Setting& setting : kSettings) {
    if (absl::StrCat("--", word) == setting.option) return setting.path;
  }
  return word;
}

using Words = std::vector<std::string>;

Words WordsOf(const std::string& text) { return absl::StrSplit(text, ' ', absl::SkipEmpty()); }

// The stage of this name, or the one at this place if no word of `all` speaks of that.
v1::Stage KnownStage(const v1::QueueSettings& known, const std::string& name, size_t place,
                     const std::vector<Words>& all) {
  for (const v1::Stage& stage : known.stages()) {
    if (stage.name() == name) return stage;
  }
  if (place >= static_cast<size_t>(known.stages_size())) return {};
  const v1::Stage& there = known.stages(static_cast<int>(place));
  const bool is_spoken_of = std::any_of(
      all.begin(), all.end(), [&](const Words& words) { return words[0] == there.name(); });
  return is_spoken_of ? v1::Stage() : there;
}

absl::Status PutStage(const Words& words, v1::Stage& stage) {
  stage.set_name(words[0]);
  for (size_t i = 1; i < words.size(); ++i) {
    const std::pair<std::string, std::string> setting =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    const absl::Status status = SetField(stage, PathOf(setting.first), setting.second);
    if (!status.ok()) {
      return UsageError(
          absl::StrCat("--stage ", words[0], ": ", setting.first, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SettingTexts::Put(v1::QueueSettings& settings,
                               const v1::QueueSettings& known) const {
  for (const auto& [path, text] : texts_) {
    if (TakesAway(path, text)) continue;
    const absl::Status status = SetField(settings, path, text);
    if (!status.ok()) return UsageError(absl::StrCat(OptionOf(path), ": ", status.message()));
  }
  std::vector<Words> stages;
  for (const std::string& text : stages_) {
    stages.push_back(WordsOf(text));
    if (stages.back().empty()) return UsageError("--stage: the name is missing");
  }
  for (size_t i = 0; i < stages.size(); ++i) {
    v1::Stage& stage = *settings.add_stages();
    stage = KnownStage(known, stages[i][0], i, stages);
    const absl::Status status = PutStage(stages[i], stage);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<std::string> SettingTexts::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, text] : texts_) paths.push_back(path);
  if (!stages_.empty()) paths.emplace_back("stages");
  return paths;
}

void AddSettings(CLI::App* app, SettingTexts* texts) {
  for (const Setting& setting : kSettings) {
    AddSetter(app, setting.option,
              [texts, path = setting.path](const std::string& text) { texts->Set(path, text); },
              setting.help)
        .Type(setting.type)
        .Group("Settings");
  }
  app->add_option_function<std::vector<std::string>>(
         "--stage",
         [texts](const std::vector<std::string>& names) {
           for (const std::string& name : names) texts->AddStage(name);
         },
         "A stage of the pipeline; once per stage, in their order, those that there are first. Its "
         "own settings follow its name, as in 'encode lease-duration=2m max-attempts=3': "
         "max-attempts, retry, base-delay, max-delay, factor, delays, jitter, lease-duration, "
         "max-run-duration")
      ->type_name("TEXT")
      ->allow_extra_args(false)
      ->group("Settings");
}

}  // namespace skiplane::cli
