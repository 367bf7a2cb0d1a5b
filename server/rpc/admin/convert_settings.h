// A queue's settings between the wire and the model, whole or by field mask. Pure functions.
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/field_mask.pb.h>

#include "absl/status/statusor.h"
#include "server/model/queue.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::rpc {

// Which settings an update takes. Paths are those of QueueSettings; none means all.
using SettingPaths = std::vector<std::string>;

// INVALID_FIELD on update_mask if a path is unknown. Empty and "*" mean all.
absl::StatusOr<SettingPaths> ReadMask(const google::protobuf::FieldMask& mask);

// `base` with the settings of `paths` from `wire`, unset ones at their defaults. INVALID_FIELD on
// "settings.…" if one of those, or the outcome as a whole, is out of range.
absl::StatusOr<model::QueueSettings> ChangeSettings(const model::QueueSettings& base,
                                                    const v1::QueueSettings& wire,
                                                    const SettingPaths& paths);

void WriteSettings(const model::QueueSettings& settings, v1::QueueSettings* wire);

}  // namespace skiplane::rpc
