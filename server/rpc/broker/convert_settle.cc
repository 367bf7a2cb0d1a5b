#include "server/rpc/broker/convert_settle.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/model/limits.h"
#include "server/rpc/broker/convert_enqueue.h"
#include "server/rpc/broker/convert_lease.h"
#include "server/rpc/broker/convert_new_task.h"
#include "server/rpc/broker/convert_task.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/status.h"
#include "server/rpc/call/text.h"
#include "server/rpc/call/wire_enum.h"
#include "server/rpc/call/wire_time.h"

namespace skiplane::rpc {
namespace {

constexpr absl::string_view kItems = "items";
// So that a thousand refused items and a next lease of usual tasks make an answer below 4 MiB.
constexpr size_t kItemFieldBytesMax = 256;
constexpr size_t kItemMessageBytesMax = 512;
constexpr DurationRange kRetryDelayRange = {absl::ZeroDuration(), model::kRetryDelayMax};

absl::Status CheckItems(int count) {
  return CheckCount(count, {1, model::kTasksPerCallMax}, {kItems});
}

// What is too long is cut: the end of an attempt must not be lost for the sake of its error.
model::TaskError ReadError(v1::TaskError* wire) {
  CutTextInPlace(model::kErrorTypeBytesMax, wire->mutable_type());
  CutTextInPlace(model::kErrorTypeBytesMax, wire->mutable_fingerprint());
  CutInPlace(model::kErrorTextBytesMax, wire->mutable_text());
  return {std::move(*wire->mutable_type()), std::move(*wire->mutable_text()),
          std::move(*wire->mutable_fingerprint())};
}

absl::Status ReadNackItem(v1::NackItem* wire, model::NackItem* item) {
  ASSIGN_OR_RETURN(const auto disposition, ReadEnum(wire->disposition(), {"disposition"}));
  item->disposition = disposition.value_or(model::NackDisposition::kRetry);
  if (wire->has_retry_delay()) {
    if (item->disposition != model::NackDisposition::kRetry) {
      return InvalidField({"retry_delay"}, "must be unset unless the disposition is RETRY");
    }
    ASSIGN_OR_RETURN(item->retry_delay,
                     ReadDuration(wire->retry_delay(), kRetryDelayRange, {"retry_delay"}));
  }
  if (item->disposition == model::NackDisposition::kRelease || !wire->has_error()) {
    return absl::OkStatus();
  }
  item->error = ReadError(wire->mutable_error());
  return absl::OkStatus();
}

bool HasContinuation(const v1::AckItem& wire) {
  return wire.then_case() != v1::AckItem::THEN_NOT_SET || wire.has_next_payload() ||
         !wire.result().empty() || wire.follow_ups_size() > 0;
}

absl::Status ReadThen(v1::AckItem* wire, model::AckContinuation* continuation) {
  continuation->finish = wire->has_finish();
  if (!wire->has_next_stage()) return absl::OkStatus();
  RETURN_IF_ERROR(
      CheckRequiredText(wire->next_stage(), model::kStageNameBytesMax, {"next_stage"}));
  continuation->next_stage = std::move(*wire->mutable_next_stage());
  return absl::OkStatus();
}

absl::Status ReadNextPayload(v1::NextPayload* wire, model::AckContinuation* continuation) {
  RETURN_IF_ERROR(
      CheckBytes(wire->payload(), model::kPayloadBytesMax, {"next_payload.payload"}));
  RETURN_IF_ERROR(CheckText(wire->content_type(), model::kContentTypeBytesMax,
                            {"next_payload.content_type"}));
  model::AckContinuation::Content& content = continuation->next_content.emplace();
  ASSIGN_OR_RETURN(content.headers,
                   ReadHeaders(wire->mutable_headers(), {"next_payload.headers"}));
  content.payload = std::move(*wire->mutable_payload());
  content.content_type = std::move(*wire->mutable_content_type());
  return absl::OkStatus();
}

absl::StatusOr<model::AckContinuation::FollowUp> ReadFollowUp(v1::FollowUp* wire, int index) {
  const std::string path = absl::StrCat("follow_ups[", index, "]");
  RETURN_IF_ERROR(model::CheckQueueName(wire->queue(), absl::StrCat(path, ".queue")));
  const std::string task = absl::StrCat(path, ".task");
  if (wire->task().key_policy() != v1::KEY_POLICY_UNSPECIFIED) {
    return InvalidField({absl::StrCat(task, ".key_policy")}, "must be unset");
  }
  model::AckContinuation::FollowUp follow_up;
  ASSIGN_OR_RETURN(follow_up.task, ReadNewTask(wire->mutable_task(), {task}));
  follow_up.queue = std::move(*wire->mutable_queue());
  return follow_up;
}

absl::StatusOr<std::shared_ptr<const model::AckContinuation>> ReadContinuation(v1::AckItem* wire) {
  auto continuation = std::make_shared<model::AckContinuation>();
  RETURN_IF_ERROR(ReadThen(wire, continuation.get()));
  if (wire->has_next_payload()) {
    RETURN_IF_ERROR(ReadNextPayload(wire->mutable_next_payload(), continuation.get()));
  }
  RETURN_IF_ERROR(CheckBytes(wire->result(), model::kResultBytesMax, {"result"}));
  continuation->result = std::move(*wire->mutable_result());
  RETURN_IF_ERROR(
      CheckCount(wire->follow_ups_size(), {0, model::kFollowUpsPerItemMax}, {"follow_ups"}));
  for (int i = 0; i < wire->follow_ups_size(); ++i) {
    ASSIGN_OR_RETURN(model::AckContinuation::FollowUp follow_up,
                     ReadFollowUp(wire->mutable_follow_ups(i), i));
    continuation->follow_ups.push_back(std::move(follow_up));
  }
  return continuation;
}

void WriteRefusal(const absl::Status& refusal, v1::ItemError* wire) {
  wire->set_reason(base::ReasonOf(refusal));
  wire->set_field(std::string(CutText(base::FieldOf(refusal), kItemFieldBytesMax)));
  wire->set_message(std::string(CutText(refusal.message(), kItemMessageBytesMax)));
}

// Only what makes the call as a whole impossible fails it: the rest is an answer for its item.
absl::StatusOr<std::vector<model::AckItem>> ReadAckItems(v1::AckRequest* request) {
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  std::vector<model::AckItem> items(static_cast<size_t>(request->items_size()));
  int follow_ups = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    v1::AckItem* const wire = request->mutable_items(static_cast<int>(i));
    ASSIGN_OR_RETURN(items[i].token, ReadToken(wire->lease_token(), {"lease_token", kItems, i}));
    if (!HasContinuation(*wire)) continue;
    absl::StatusOr<std::shared_ptr<const model::AckContinuation>> continuation =
        ReadContinuation(wire);
    if (!continuation.ok()) {
      items[i].refusal = continuation.status();
      continue;
    }
    follow_ups += wire->follow_ups_size();
    RETURN_IF_ERROR(
        CheckCount(follow_ups, {0, model::kTasksPerCallMax}, {"follow_ups", kItems, i}));
    items[i].continuation = *std::move(continuation);
  }
  return items;
}

}  // namespace

absl::StatusOr<model::LeaseToken> ReadToken(absl::string_view token, const Field& field) {
  absl::StatusOr<model::LeaseToken> decoded = model::DecodeLeaseToken(token);
  if (!decoded.ok()) return MalformedToken(field);
  return decoded;
}

absl::StatusOr<AckCall> ReadAck(v1::AckRequest* request) {
  AckCall call;
  if (request->has_lease_next()) {
    absl::StatusOr<broker::LeaseCall> lease = ReadLease(request->mutable_lease_next());
    if (!lease.ok()) return base::PrefixField("lease_next.", lease.status());
    call.lease = *std::move(lease);
  }
  ASSIGN_OR_RETURN(call.items, ReadAckItems(request));
  return call;
}

void WriteAck(std::vector<model::AckResult>* results, v1::AckResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(results->size()));
  for (model::AckResult& result : *results) {
    v1::AckResult* const wire = response->add_results();
    wire->set_outcome(ToAckOutcome(result.outcome));
    if (!result.refusal.ok()) WriteRefusal(result.refusal, wire->mutable_error());
    if (result.outcome != model::SettleOutcome::kSettled) continue;
    wire->set_state(ToWire(result.state));
    wire->set_stage(std::move(result.stage));
    if (result.schedule_time) WriteTime(*result.schedule_time, wire->mutable_schedule_time());
    for (const model::EnqueueResult& follow_up : result.follow_ups) {
      WriteEnqueueResult(follow_up, wire->add_follow_ups());
    }
  }
}

absl::StatusOr<std::vector<model::NackItem>> ReadNack(v1::NackRequest* request) {
  RETURN_IF_ERROR(CheckItems(request->items_size()));
  std::vector<model::NackItem> items;
  items.reserve(static_cast<size_t>(request->items_size()));
  for (v1::NackItem& wire : *request->mutable_items()) {
    const Field field = {"lease_token", kItems, items.size()};
    model::NackItem& item = items.emplace_back();
    ASSIGN_OR_RETURN(item.token, ReadToken(wire.lease_token(), field));
    item.refusal = ReadNackItem(&wire, &item);
  }
  return items;
}

void WriteNack(std::vector<model::NackResult>* results, v1::NackResponse* response) {
  response->mutable_results()->Reserve(static_cast<int>(results->size()));
  for (const model::NackResult& result : *results) {
    v1::NackResult* wire = response->add_results();
    wire->set_outcome(ToNackOutcome(result.outcome));
    if (!result.refusal.ok()) WriteRefusal(result.refusal, wire->mutable_error());
    if (result.outcome != model::SettleOutcome::kSettled) continue;
    wire->set_state(ToWire(result.state));
    if (result.schedule_time) WriteTime(*result.schedule_time, wire->mutable_schedule_time());
  }
}

}  // namespace skiplane::rpc
