// What operators look at, call by call, and how long each kind of call takes. Failures end the
// program. Not thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "skiplane/v1/admin.grpc.pb.h"
#include "tests/bench/latencies.h"
#include "tests/bench/scenario/admin_rows.h"

namespace skiplane::bench {

// Each kind of call `calls` times, one after the other, in a queue that FillForAdmin filled.
std::vector<std::pair<std::string, Latencies>> ReadAsOperator(v1::AdminService::Stub& stub,
                                                              const std::string& queue,
                                                              const AdminRows& rows, int calls);

}  // namespace skiplane::bench
