#include "client/src/worker/settlement.h"

#include <utility>
#include <vector>

#include "client/src/content.h"
#include "client/src/worker/ack_item.h"
#include "client/src/worker/nack_item.h"

namespace skiplane::internal {
namespace {

// Most attempts end so: only the token has to be said.
bool IsPlainAck(const Result& result) {
  const AckMore& more = result.more();
  return result.kind() == Result::Kind::kDone && result.output().empty() &&
         more.next_stage.empty() && !more.finish && !more.next_payload &&
         more.follow_ups.empty();
}

}  // namespace

absl::Status Encode(const ClientOptions& options, Settlement& settlement) {
  const auto& [hold, result, bytes, message] = settlement;
  settlement.message = std::make_unique<v1::WorkSettlement>();
  v1::SettleItem* const item = settlement.message->mutable_item();
  if (IsPlainAck(result)) {
    item->mutable_ack()->set_lease_token(hold->task().lease_token);
    return absl::OkStatus();
  }
  std::vector<SettleItem> items;
  if (result.kind() == Result::Kind::kDone) {
    items.emplace_back(ToAckItem(hold->task(), result, options.codec != nullptr));
  } else {
    items.emplace_back(ToNackItem(hold->task(), result));
  }
  auto request = EncodeToSettle(options, std::move(items));
  if (!request.ok()) return request.status();
  item->Swap(request->mutable_items(0));
  return absl::OkStatus();
}

AttemptEnd EndOf(Result::Kind kind, const SettleResult& result) {
  const bool is_over = result.outcome == SettleOutcome::kSettled ||
                       result.outcome == SettleOutcome::kAlreadySettled;
  if (!is_over) return AttemptEnd::kLost;
  // The work was done, whatever becomes of the task.
  if (kind == Result::Kind::kDone) return AttemptEnd::kDone;
  if (result.state == TaskState::kCancelled) return AttemptEnd::kCancelled;
  if (result.state == TaskState::kFailed) return AttemptEnd::kFailed;
  if (kind == Result::Kind::kFail) return AttemptEnd::kFailed;
  return kind == Result::Kind::kRelease ? AttemptEnd::kReleased : AttemptEnd::kRetried;
}

}  // namespace skiplane::internal
