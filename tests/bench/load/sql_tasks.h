// Tasks that are made and read by SQL, as those of an ordinary load.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/bench/broker_run.h"
#include "tests/bench/stage.h"

namespace skiplane::bench {

// Makes the table that SqlPayload reads, once in a database.
void MakePayloadBodies(const BrokerRun& broker);

// The payload with this number, for a SELECT FROM generate_series(…) n and kPayloadBodies.
std::string SqlPayload(absl::string_view number);
inline constexpr char kPayloadBodies[] = "JOIN bench_body body ON body.place = n % 1024";

// Of binary rows of an id and a payload: the ids. Nothing, and the stage fails, if a payload is not
// as it was made. If `latencies` is given, it gets the times of these tasks' journeys.
std::vector<int64_t> ReadSqlTasks(Stage& stage, const pg_result* rows,
                                  Latencies* latencies = nullptr);

}  // namespace skiplane::bench
