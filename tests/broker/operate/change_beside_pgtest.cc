// Changes of a task that ends while they wait for it.
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"

namespace skiplane::testing {
namespace {

using ::testing::HasSubstr;
using Kind = model::TaskChange::Kind;

class ChangeBesideTest : public BrokerHarness {
 protected:
  // Asks for the change; while it waits, the task fails.
  absl::StatusOr<model::TaskView> ChangeOneThatFails(Kind kind) {
    const model::TaskId id = Enqueue({Payload("x")})[0].id;
    LeaseOne("w");
    auto failing = *pg::Session::Open({.uri = database_.uri()}, nullptr);
    EXPECT_THAT(failing->RunText("BEGIN"), IsOk());
    EXPECT_THAT(
        failing->RunText(
            "WITH gone AS (DELETE FROM skiplane.task RETURNING *) "
            "INSERT INTO skiplane.task_failed (lane, id, expire_time, end_time, schedule_time, "
            " create_time, lease_number, attempt, max_attempts, stage, priority, payload) "
            "SELECT lane, id, now() + interval '1 day', now(), schedule_time, create_time, "
            " lease_number, attempt, max_attempts, stage, priority, payload FROM gone"),
        IsOk());
    broker::ChangeTaskCall call;
    call.id = id;
    call.change.kind = kind;
    call.origin = Origin();
    Later<model::TaskView> changed;
    broker().AsOperator().ChangeTask(std::move(call), changed.done());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (Number("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0) {
      if (std::chrono::steady_clock::now() > give_up) return absl::UnknownError("does not wait");
    }
    EXPECT_THAT(failing->RunText("COMMIT"), IsOk());
    return changed.Get();
  }
};

// It was once told that the task is LEASED, and that it may not cancel it therefore.
TEST_F(ChangeBesideTest, ARefusalTellsTheStateThatRefusesIt) {
  const auto changed = ChangeOneThatFails(Kind::kCancel);
  EXPECT_THAT(changed, ReasonIs("WRONG_STATE"));
  EXPECT_THAT(std::string(changed.status().message()), HasSubstr("is FAILED"));
}

TEST_F(ChangeBesideTest, WhatSuitsTheNewStateIsDone) {
  const auto changed = ChangeOneThatFails(Kind::kRetry);
  ASSERT_THAT(changed, IsOk());
  EXPECT_EQ(changed->state, model::TaskState::kReady);
}

}  // namespace
}  // namespace skiplane::testing
