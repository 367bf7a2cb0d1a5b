// The half of convert_task.h that ends attempts: Ack and Nack.
#include <utility>

#include "client/src/convert_task.h"
#include "client/src/convert_time.h"

namespace skiplane::internal {
namespace {

SettleOutcome OutcomeFromProto(v1::AckOutcome outcome) {
  switch (outcome) {
    case v1::ACK_OUTCOME_ACKED: return SettleOutcome::kDone;
    case v1::ACK_OUTCOME_ALREADY_SETTLED: return SettleOutcome::kAlreadySettled;
    case v1::ACK_OUTCOME_LEASE_LOST: return SettleOutcome::kLeaseLost;
    default: return SettleOutcome::kNotFound;
  }
}

SettleOutcome OutcomeFromProto(v1::NackOutcome outcome) {
  switch (outcome) {
    case v1::NACK_OUTCOME_NACKED: return SettleOutcome::kDone;
    case v1::NACK_OUTCOME_ALREADY_SETTLED: return SettleOutcome::kAlreadySettled;
    case v1::NACK_OUTCOME_LEASE_LOST: return SettleOutcome::kLeaseLost;
    default: return SettleOutcome::kNotFound;
  }
}

v1::NackDisposition ToProto(Disposition disposition) {
  switch (disposition) {
    case Disposition::kRelease: return v1::NACK_DISPOSITION_RELEASE;
    case Disposition::kFail: return v1::NACK_DISPOSITION_FAIL;
    case Disposition::kRetry: break;
  }
  return v1::NACK_DISPOSITION_RETRY;
}

TaskState NackStateFromProto(v1::TaskState state) {
  switch (state) {
    case v1::TASK_STATE_SCHEDULED: return TaskState::kScheduled;
    case v1::TASK_STATE_READY: return TaskState::kReady;
    case v1::TASK_STATE_FAILED: return TaskState::kFailed;
    default: return TaskState::kUnknown;
  }
}

}  // namespace

v1::AckRequest AckToProto(std::vector<AckItem> items) {
  v1::AckRequest request;
  for (AckItem& item : items) {
    v1::AckItem* proto = request.add_items();
    proto->set_lease_token(std::move(item.lease_token));
    proto->set_result(std::move(item.result));
  }
  return request;
}

std::vector<SettleOutcome> FromProto(const v1::AckResponse& response) {
  std::vector<SettleOutcome> outcomes;
  for (const v1::AckResult& result : response.results()) {
    outcomes.push_back(OutcomeFromProto(result.outcome()));
  }
  return outcomes;
}

v1::NackRequest NackToProto(std::vector<NackItem> items) {
  v1::NackRequest request;
  for (NackItem& item : items) {
    v1::NackItem* proto = request.add_items();
    proto->set_lease_token(std::move(item.lease_token));
    proto->set_disposition(ToProto(item.disposition));
    if (item.retry_delay) ToProto(*item.retry_delay, proto->mutable_retry_delay());
    if (item.disposition == Disposition::kRelease) continue;
    proto->mutable_error()->set_type(std::move(item.error.type));
    proto->mutable_error()->set_text(std::move(item.error.text));
    proto->mutable_error()->set_fingerprint(std::move(item.error.fingerprint));
  }
  return request;
}

std::vector<NackResult> FromProto(const v1::NackResponse& response) {
  std::vector<NackResult> results;
  for (const v1::NackResult& result : response.results()) {
    NackResult& converted = results.emplace_back();
    converted.outcome = OutcomeFromProto(result.outcome());
    converted.state = NackStateFromProto(result.state());
    if (result.has_schedule_time()) converted.schedule_time = FromProto(result.schedule_time());
  }
  return results;
}

}  // namespace skiplane::internal
