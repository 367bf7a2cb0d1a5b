// How much a batch gathers, how much may wait for it, and when it starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "server/model/limits.h"
#include "server/pg/connections/job_queue.h"

namespace skiplane::broker {

struct BatchLimits {
  int64_t rows_max = model::kBatchRowsMax;
  int64_t bytes_max = model::kBatchBytesMax;
  int64_t pending_rows_max = model::kPendingRowsMax;
  int64_t pending_bytes_max = model::kPendingBytesMax;
  int64_t second_batch_rows = 128;  // that wait before a second batch starts beside the first
  std::chrono::milliseconds min_interval{0};  // between two starts, unless a batch is full
  std::string party{};  // of batches that are of many parties
  pg::JobRank rank = pg::JobRank::kInTurn;
};

}  // namespace skiplane::broker
