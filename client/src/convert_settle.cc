// The half of convert_task.h that ends attempts: Ack and Nack.
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/convert_enum.h"
#include "client/src/convert_new_task.h"
#include "client/src/convert_task.h"
#include "client/src/convert_time.h"
#include "client/src/status.h"

namespace skiplane::internal {
namespace {

void MovePayload(NextPayload& payload, v1::NextPayload* proto) {
  proto->set_payload(std::move(payload.payload));
  proto->set_content_type(std::move(payload.content_type));
  for (auto& [key, value] : payload.headers) (*proto->mutable_headers())[key] = std::move(value);
}

absl::Status MoveMore(AckMore& more, absl::string_view at, v1::AckItem* proto) {
  if (!more.next_stage.empty() && more.finish) {
    return absl::InvalidArgumentError(absl::StrCat(at, " has both a next_stage and finish"));
  }
  if (!more.next_stage.empty()) proto->set_next_stage(std::move(more.next_stage));
  if (more.finish) proto->mutable_finish();
  if (more.next_payload) MovePayload(*more.next_payload, proto->mutable_next_payload());
  for (FollowUp& follow_up : more.follow_ups) {
    const std::string task = absl::StrCat(at, ".follow_ups[", proto->follow_ups_size(), "].task");
    v1::FollowUp* converted = proto->add_follow_ups();
    converted->set_queue(std::move(follow_up.queue));
    const absl::Status status = MoveTask(follow_up.task, task, converted->mutable_task());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::AckRequest> AckToProto(std::vector<AckItem> items) {
  v1::AckRequest request;
  for (AckItem& item : items) {
    const std::string at = absl::StrCat("items[", request.items_size(), "]");
    v1::AckItem* proto = request.add_items();
    proto->set_lease_token(std::move(item.lease_token));
    proto->set_result(std::move(item.result));
    const absl::Status status = MoveMore(item.more, at, proto);
    if (!status.ok()) return status;
  }
  return request;
}

std::vector<AckResult> FromProto(const v1::AckResponse& response) {
  std::vector<AckResult> results;
  for (const v1::AckResult& result : response.results()) {
    AckResult& converted = results.emplace_back();
    converted.outcome = FromProto(result.outcome());
    if (result.has_error()) converted.error = FromProto(result.error());
  }
  return results;
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
    converted.outcome = FromProto(result.outcome());
    converted.state = FromProto(result.state());
    if (result.has_schedule_time()) converted.schedule_time = FromProto(result.schedule_time());
    if (result.has_error()) converted.error = FromProto(result.error());
  }
  return results;
}

}  // namespace skiplane::internal
