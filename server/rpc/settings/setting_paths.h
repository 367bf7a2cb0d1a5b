// Which settings an update takes, by the paths of its field mask. Pure functions.
#pragma once

#include <google/protobuf/field_mask.pb.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::rpc {

// Paths in QueueSettings, as "history" or "retry.kind"; "retry" stands for all of its fields.
using SettingPaths = std::vector<std::string>;

// Those of a mask "*".
SettingPaths AllSettings();

// The paths of the mask; without one, those of what is set in `settings`. INVALID_FIELD on a path
// that is unknown, listed twice, or "*" beside others; on settings if nothing would be changed.
absl::StatusOr<SettingPaths> ReadMask(const google::protobuf::FieldMask& mask,
                                      const v1::QueueSettings& settings);

}  // namespace skiplane::rpc
