// The database of a queue that has been at work for weeks, as its operators find it: tasks that
// wait at three stages, dead letters in many error groups, history and statistics.
#pragma once

#include <cstdint>
#include <string>

#include "tests/bench/broker_run.h"

namespace skiplane::bench {

constexpr int kAdminStages = 3;       // stage0, stage1, stage2
constexpr int kAdminPriority = 5;     // of all tasks that wait
constexpr int kAdminGroups = 500;     // error groups print-0, print-1, …, at each stage
constexpr int kAdminTenants = 1000;   // values of the header "tenant": t0, t1, …

std::string AdminQueueName(int number);

struct AdminRows {
  int64_t lane = 0;
  int64_t waiting = 0;  // eight of ten ready, one delayed, one retrying; every fourth has a key
  int64_t failed = 0;
  int64_t history = 0;
  int queues = 0;  // empty ones beside it, by their numbers
  int64_t first_waiting = 0;  // ids, each kind without a gap
  int64_t first_failed = 0;
  int64_t first_history = 0;
  std::string partition;  // the table of all `history` rows, and of no others
};

// Fills the queue, whose stages must exist; vacuumed and checkpointed when this returns.
AdminRows FillForAdmin(const BrokerRun& broker, const std::string& queue, int64_t waiting,
                       int64_t failed, int64_t history);

}  // namespace skiplane::bench
