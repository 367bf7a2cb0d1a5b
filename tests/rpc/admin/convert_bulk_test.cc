// Bulk operations from the wire and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "server/base/reason.h"
#include "server/rpc/admin/convert_bulk.h"
#include "server/rpc/admin/convert_filter.h"
#include "server/rpc/call/list_token.h"

namespace skiplane::rpc {
namespace {

using Kind = model::TaskChange::Kind;
using Start = v1::StartBulkOperationRequest;

// Cancels all tasks of a queue.
Start CancelAll() {
  Start request;
  request.mutable_filter()->set_queue("mail");
  request.mutable_filter()->set_all(true);
  request.mutable_action()->mutable_cancel();
  return request;
}

broker::StartBulkCall Read(Start request) {
  auto call = ReadStartBulk(&request);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? *std::move(call) : broker::StartBulkCall();
}

TEST(ReadStartBulk, HasItsDefaults) {
  const broker::StartBulkCall call = Read(CancelAll());
  EXPECT_EQ(call.filter.states, LivingStates());
  EXPECT_FALSE(call.dry_run);
  EXPECT_EQ(call.wait, absl::Seconds(5));
  Start request = CancelAll();
  request.set_dry_run(true);
  request.mutable_wait();
  EXPECT_TRUE(Read(request).dry_run);
  EXPECT_EQ(Read(request).wait, absl::ZeroDuration());
}

TEST(ReadStartBulk, EachActionIsTakenAndWrittenAsItWas) {
  struct Action {
    std::function<void(v1::BulkAction&)> set;
    Kind kind;
    bool is_for_failed = false;
  };
  const Action actions[] = {
      {[](auto& x) { x.set_set_priority(-3); }, Kind::kPrioritize},
      {[](auto& x) { x.mutable_run_now(); }, Kind::kRunNow},
      {[](auto& x) { x.mutable_schedule_time()->set_seconds(1700000000); }, Kind::kRunAt},
      {[](auto& x) { x.mutable_postpone()->set_seconds(90); }, Kind::kPostpone},
      {[](auto& x) { x.mutable_retry(); }, Kind::kRetry, true},
      {[](auto& x) { x.mutable_cancel(); }, Kind::kCancel},
      {[](auto& x) { x.mutable_delete_(); }, Kind::kDelete, true}};
  for (const Action& action : actions) {
    Start request = CancelAll();
    action.set(*request.mutable_action());
    model::BulkOperation operation;
    const broker::StartBulkCall call = Read(request);
    EXPECT_EQ(call.change.kind, action.kind);
    EXPECT_EQ(call.filter.states.failed, action.is_for_failed);
    operation.change = call.change;
    v1::BulkOperation wire;
    WriteBulk(operation, &wire);
    EXPECT_EQ(wire.action().SerializeAsString(), request.action().SerializeAsString());
  }
}

TEST(ReadStartBulk, NamesTheBadField) {
  struct Bad {
    std::function<void(Start&)> spoil;
    std::string field;
  };
  const Bad table[] = {
      {[](auto& x) { x.mutable_filter()->clear_queue(); }, "filter.queue"},
      {[](auto& x) { x.mutable_filter()->set_all(false); }, "filter.all"},
      {[](auto& x) { x.mutable_filter()->set_priority(0); }, "filter.all"},
      {[](auto& x) { x.clear_action(); }, "action"},
      {[](auto& x) { x.mutable_filter()->set_periodic(false); }, "filter.all"},
      {[](auto& x) { x.mutable_action()->set_set_priority(40000); }, "action.set_priority"},
      {[](auto& x) { x.mutable_action()->mutable_postpone()->set_seconds(-1); },
       "action.postpone"},
      {[](auto& x) { x.mutable_action()->mutable_schedule_time()->set_nanos(-1); },
       "action.schedule_time"},
      {[](auto& x) { x.mutable_wait()->set_seconds(61); }, "wait"},
      {[](auto& x) { x.mutable_wait()->set_seconds(-1); }, "wait"},
  };
  for (const Bad& bad : table) {
    Start request = CancelAll();
    bad.spoil(request);
    const absl::Status status = ReadStartBulk(&request).status();
    EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD") << bad.field;
    EXPECT_EQ(base::FieldOf(status), bad.field);
  }
}

TEST(ReadStartBulk, TakesStatesThatTheActionCanChangeOnly) {
  const auto field = [](v1::TaskState state, bool is_retry) {
    Start request = CancelAll();
    request.mutable_filter()->set_all(false);
    request.mutable_filter()->add_states(state);
    if (is_retry) request.mutable_action()->mutable_retry();
    return base::FieldOf(ReadStartBulk(&request).status());
  };
  for (const bool is_retry : {false, true}) {
    EXPECT_EQ(field(v1::TASK_STATE_READY, is_retry), "");
    EXPECT_EQ(field(v1::TASK_STATE_SUCCEEDED, is_retry), "filter.states");
    EXPECT_EQ(field(v1::TASK_STATE_CANCELLED, is_retry), "filter.states");
  }
  EXPECT_EQ(field(v1::TASK_STATE_FAILED, false), "filter.states");
  EXPECT_EQ(field(v1::TASK_STATE_FAILED, true), "");
}

TEST(ReadRetryGroup, MeansWaitingAndFailedTasksOfTheGroup) {
  v1::RetryErrorGroupRequest request;
  request.set_queue("mail");
  request.set_stage("s");
  request.set_fingerprint("mine");
  v1::RetryErrorGroupRequest unnamed = request;
  unnamed.clear_fingerprint();
  EXPECT_EQ(base::FieldOf(ReadRetryGroup(&unnamed).status()), "fingerprint");
  const auto call = ReadRetryGroup(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->filter.fingerprint, "mine");
  EXPECT_EQ(call->filter.stage, "s");
  EXPECT_EQ(call->change.kind, Kind::kRetry);
  model::TaskStates states;
  states.scheduled = states.ready = states.failed = true;
  EXPECT_EQ(call->filter.states, states);
}

TEST(OperationId, ReturnsAsItWasAndIsRefusedInAnyOtherForm) {
  const model::SessionId id = {0, 0xab, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff};
  v1::GetBulkOperationRequest get;
  get.set_operation_id(WriteOperationId(id));
  const auto call = ReadGetBulk(&get);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->id, id);
  EXPECT_EQ(call->wait, absl::ZeroDuration());
  const std::string good = get.operation_id();
  for (const std::string& bad :
       {std::string(), good.substr(2), good + "00", std::string(32, 'g'),
        "00AB" + good.substr(4), " " + good.substr(1)}) {
    v1::StopBulkOperationRequest stop;
    stop.set_operation_id(bad);
    EXPECT_EQ(base::FieldOf(ReadStopBulk(&stop).status()), "operation_id") << bad;
  }
}

TEST(ReadListBulks, GoesOnWhereThePageBeforeEnded) {
  v1::ListBulkOperationsRequest request;
  EXPECT_EQ(ReadListBulks(&request)->limit, 100);
  const std::string id = WriteOperationId({1, 2, 3});
  request.set_page_token(WriteListToken({"1700000000000001", id}, TokenScope(request)));
  const auto call = ReadListBulks(&request);
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->before, absl::FromUnixMicros(1700000000000001));
  EXPECT_EQ(call->before_id, (model::SessionId{1, 2, 3}));
  for (const auto& parts : {std::vector<std::string>{"x", id}, {"1", "no id"}, {"1"}}) {
    v1::ListBulkOperationsRequest forged;
    forged.set_page_token(WriteListToken(parts, TokenScope(forged)));
    EXPECT_EQ(base::FieldOf(ReadListBulks(&forged).status()), "page_token");
  }
}

TEST(WriteBulk, TellsTheFilterAndHowFarItIs) {
  Start request = CancelAll();
  request.mutable_filter()->set_all(false);
  request.mutable_filter()->set_key_prefix("user:");
  request.mutable_filter()->mutable_min_age()->set_seconds(60);
  request.mutable_filter()->set_priority(-1);
  for (const v1::TaskState state :
       {v1::TASK_STATE_SCHEDULED, v1::TASK_STATE_READY, v1::TASK_STATE_LEASED}) {
    request.mutable_filter()->add_states(state);
  }
  model::BulkOperation operation;
  operation.filter = Read(request).filter;
  operation.scanned = 5;
  operation.matched = 4;
  operation.changed = 3;
  operation.total = 6;
  operation.actor = "ann";
  v1::BulkOperation wire;
  WriteBulk(operation, &wire);
  EXPECT_EQ(wire.filter().SerializeAsString(), request.filter().SerializeAsString());
  EXPECT_EQ(wire.scanned_count(), 5);
  EXPECT_EQ(wire.matched_count(), 4);
  EXPECT_EQ(wire.changed_count(), 3);
  EXPECT_EQ(wire.total_estimate(), 6);
  EXPECT_EQ(wire.actor(), "ann");
}

}  // namespace
}  // namespace skiplane::rpc
