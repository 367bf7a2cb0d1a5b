#include "client/cli/command/queue_settings.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
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
    Setting{"--payload-bytes-max", "payload_bytes_max", "N", "The largest payload accepted"},
    Setting{"--history", "history", "WORD",
            "Which attempts leave a history row: all, failures or none"},
    Setting{"--periodic-history", "periodic_history", "WORD", "The same of periodic tasks"},
    Setting{"--history-days", "history_days", "N", "How long history rows and keys are kept"},
    Setting{"--failed-days", "failed_days", "N", "How long failed tasks are kept"},
    Setting{"--keep-payloads", "keep_payloads", "yes|no", "Whether history rows hold payloads"},
    Setting{"--keep-results", "keep_results", "yes|no", "Whether history rows hold results"},
};

const char* OptionOf(const std::string& path) {
  for (const Setting& setting : kSettings) {
    if (path == setting.path) return setting.option;
  }
  return "";
}

}  // namespace

absl::Status SettingTexts::Put(v1::QueueSettings& settings) const {
  for (const auto& [path, text] : texts_) {
    const absl::Status status = SetField(settings, path, text);
    if (!status.ok()) return UsageError(absl::StrCat(OptionOf(path), ": ", status.message()));
  }
  for (const std::string& stage : stages_) settings.add_stages()->set_name(stage);
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
    app->add_option_function<std::string>(
           setting.option,
           [texts, path = setting.path](const std::string& text) { texts->Set(path, text); },
           setting.help)
        ->type_name(setting.type)
        ->group("Settings");
  }
  app->add_option_function<std::vector<std::string>>(
         "--stage",
         [texts](const std::vector<std::string>& names) {
           for (const std::string& name : names) texts->AddStage(name);
         },
         "A stage of the pipeline; once per stage, in their order, those that there are first")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->group("Settings");
}

}  // namespace skiplane::cli
