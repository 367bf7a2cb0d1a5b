// Statistics by minute between the wire and the broker. Pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/broker/api/report_calls.h"
#include "skiplane/v1/admin.pb.h"

namespace skiplane::rpc {

absl::StatusOr<broker::MinutesCall> ReadMinutes(v1::GetMinuteStatisticsRequest* request);

// `scope` is what the token of the next page is good for (list_token.h).
void WriteMinutes(broker::MinutePage* page, const std::string& scope,
                  v1::GetMinuteStatisticsResponse* response);

}  // namespace skiplane::rpc
