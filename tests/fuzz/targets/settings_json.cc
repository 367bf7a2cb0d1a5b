// Settings of queues, as the table holds them.
#include <string>

#include "server/base/reason.h"
#include "server/model/queue.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

void ReadSettings(absl::string_view bytes) {
  const auto settings = model::SettingsFromJson(bytes);
  if (!settings.ok()) {
    Demand(base::ReasonOf(settings.status()) == "INTERNAL_ERROR",
           "settings that cannot be read are the broker's fault");
    return;
  }
  const auto again = model::SettingsFromJson(model::SettingsToJson(*settings));
  Demand(again.ok() && *again == *settings, "settings are read as they were written");
  const absl::Status check = model::CheckSettings(*settings, "settings.");
  if (!check.ok()) DemandRefusal(check);
  for (int16_t stage = 0; stage < settings->StageCount(); ++stage) {
    const auto delay = model::RetryDelay(settings->RetryOf(stage), 1 + stage, 0.5);
    if (!check.ok()) continue;
    Demand(delay >= absl::ZeroDuration() && delay <= settings->RetryOf(stage).max_delay,
           "a retry is not too late");
  }
}

const Target kSettingsJson("settings_json", &ReadSettings);

}  // namespace
}  // namespace skiplane::fuzz
