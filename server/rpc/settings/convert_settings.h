// A queue's settings between the wire and the model, whole or in part. Pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "server/model/queue.h"
#include "server/rpc/settings/setting_paths.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::rpc {

// `base` with the settings of `paths` from `wire`, unset ones at their defaults. INVALID_FIELD on
// "settings.…" if one of those, or the outcome as a whole, is out of range.
absl::StatusOr<model::QueueSettings> ChangeSettings(const model::QueueSettings& base,
                                                    const v1::QueueSettings& wire,
                                                    const SettingPaths& paths);

void WriteSettings(const model::QueueSettings& settings, v1::QueueSettings* wire);

}  // namespace skiplane::rpc
