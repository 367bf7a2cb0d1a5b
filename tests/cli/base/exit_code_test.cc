#include "client/cli/base/exit_code.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"

namespace skiplane::cli {
namespace {

TEST(ExitCodeTest, TellsRefusalsFromWhatIsWrongHere) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("from the broker")), 1);
  EXPECT_EQ(ExitCodeOf(UsageError("from here")), 2);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), 4);
  EXPECT_EQ(ExitCodeOf(LocalError("a file")), 5);
  EXPECT_EQ(ExitCodeOf(Interrupted("")), 130);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError("")), 1);
}

TEST(ExitCodeTest, TheReasonAndTheFieldAreTold) {
  absl::Status status = absl::InvalidArgumentError("priority is out of range");
  status.SetPayload("skiplane.dev/reason", absl::Cord("INVALID_FIELD"));
  status.SetPayload("skiplane.dev/field", absl::Cord("tasks[3].priority"));
  EXPECT_EQ(Explain(status), "priority is out of range [field tasks[3].priority] (INVALID_FIELD)");
  EXPECT_EQ(NextStep(status), "");
}

TEST(ExitCodeTest, WhatToDoNextIsTold) {
  absl::Status status = absl::NotFoundError("no queue mail");
  EXPECT_EQ(NextStep(status), "");
  status.SetPayload("skiplane.dev/reason", absl::Cord("QUEUE_NOT_FOUND"));
  EXPECT_EQ(NextStep(status),
            "skiplane queues list shows the queues, skiplane queues create makes one.");
}

}  // namespace
}  // namespace skiplane::cli
