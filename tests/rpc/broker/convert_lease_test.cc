// What is said of leased tasks.
#include "server/rpc/broker/convert_lease.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "server/access/token_sealer.h"
#include "server/model/limits.h"
#include "server/rpc/broker/seal_tokens.h"

namespace skiplane::rpc {
namespace {

// All of a task that kLeaseBytesMax does not count, as large as it may be.
model::LeasedTask LargestBesidePayload() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  model::LeasedTask task;
  task.token.task = {kMost, kMost};
  task.token.lease_number = kMost;
  task.token.attempt = model::kMaxAttemptsMax;
  task.max_attempts = model::kMaxAttemptsMax;
  task.priority = model::kPriorityMin;  // more bytes than a positive one
  task.queue = std::string(model::kQueueNameBytesMax, 'q');
  task.key = std::string(model::kKeyBytesMax, 'k');
  task.content_type = std::string(model::kContentTypeBytesMax, 'c');
  task.stage = std::string(model::kStageNameBytesMax, 's');
  task.version = kMost;
  const absl::Time time = absl::FromUnixNanos(4'000'000'000'999'999'000);
  task.create_time = task.schedule_time = time;
  task.planned_time = time;
  task.last_error.emplace();
  task.last_progress.emplace();
  return task;
}

// A thousand of them and three megabytes that do count leave room in a message of four.
TEST(ConvertLeaseTest, WhatTasksSayBesideTheirPayloadsIsBounded) {
  broker::LeaseAnswer answer;
  answer.tasks.push_back(LargestBesidePayload());
  v1::LeaseResponse response;
  WriteLease(&answer, &response);
  SealTokens(access::TokenSealer().For("somebody"), &response);
  response.clear_lease_remaining();
  EXPECT_LE(response.ByteSizeLong(), model::kTaskBytesBesideMax);
}

}  // namespace
}  // namespace skiplane::rpc
