#include "client/src/worker/ack_item.h"

#include <algorithm>
#include <map>
#include <string>

#include "client/src/content.h"
#include "skiplane/error.h"

namespace skiplane::internal {
namespace {

constexpr size_t kOutputBytesMax = size_t{1} << 20;
constexpr size_t kCodecBytes = 1024;  // that a codec may add to an output
constexpr size_t kErrorBytesMax = size_t{64} << 10;
constexpr size_t kItemBytes = 1024;  // a token, the short texts of an error, the frame around them

size_t BytesOf(const std::map<std::string, std::string>& headers) {
  size_t bytes = 0;
  for (const auto& [key, value] : headers) bytes += key.size() + value.size();
  return bytes;
}

size_t BytesOf(const NewTask& task) {
  return kItemBytes + task.queue.size() + task.payload.size() + task.content_type.size() +
         BytesOf(task.headers) + task.key.size() + task.cron.size();
}

}  // namespace

AckItem ToAckItem(const LeasedTask& task, const Result& result, bool has_codec) {
  const size_t bytes = has_codec ? kOutputBytesMax - kCodecBytes : kOutputBytesMax;
  return {.lease_token = task.lease_token,
          .result = result.output().substr(0, bytes),
          .more = result.more(),
          .queue = task.queue};
}

size_t BytesOf(const Result& result) {
  size_t bytes = kItemBytes + std::min(result.output().size(), kOutputBytesMax) +
                 std::min(result.error().text.size(), kErrorBytesMax);
  if (const auto& next = result.more().next_payload) {
    bytes += next->payload.size() + BytesOf(next->headers);
  }
  for (const NewTask& follow_up : result.more().follow_ups) bytes += BytesOf(follow_up);
  return bytes;
}

bool IsRefusal(const absl::Status& status) {
  if (absl::IsInvalidArgument(status) || IsNotEncoded(status)) return true;
  // gRPC's own is for a request that is far too large; the broker's is for too much to do.
  return absl::IsResourceExhausted(status) && ErrorReason(status).empty();
}

Result FromRefusal(const absl::Status& status) {
  const std::string reason = ErrorReason(status);
  const std::string unnamed = IsNotEncoded(status) ? "CONTENT_NOT_ENCODED" : "ACK_REFUSED";
  return Result::Retry({.type = reason.empty() ? unnamed : reason,
                        .text = std::string(status.message())});
}

}  // namespace skiplane::internal
