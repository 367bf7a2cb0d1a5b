#include "client/src/content.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/src/convert_task.h"

namespace skiplane::internal {
namespace {

using Headers = std::map<std::string, std::string>;

constexpr char kHeader[] = "skiplane-codec";
// Before the mark and a newline. No text begins with NUL.
constexpr absl::string_view kResultFrame("\0skiplane-codec ", 16);
constexpr size_t kMarkBytesMax = 128;
constexpr absl::string_view kNotEncodedPayload = "skiplane.dev/not-encoded";

bool IsMark(absl::string_view mark) {
  const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
  return !mark.empty() && mark.size() <= kMarkBytesMax &&
         std::all_of(mark.begin(), mark.end(), is_visible);
}

absl::StatusOr<EncodedContent> Encode(const Codec& codec, const ContentPlace& place,
                                      absl::string_view content) {
  auto encoded = codec.Encode(place, content);
  if (encoded.ok() && !IsMark(encoded->mark)) {
    encoded = absl::InternalError("the codec's mark must be 1 to 128 bytes of visible ASCII");
  }
  if (encoded.ok()) return encoded;
  absl::Status status = encoded.status();
  status.SetPayload(kNotEncodedPayload, absl::Cord());
  return status;
}

absl::Status EncodePayload(const Codec& codec, absl::string_view queue, absl::string_view at,
                           std::string& payload, Headers& headers) {
  if (headers.count(kHeader) > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(at, " has a header ", kHeader, ", which is the codec's"));
  }
  auto encoded = Encode(codec, {.queue = queue, .kind = ContentKind::kPayload}, payload);
  if (!encoded.ok()) return encoded.status();
  payload = std::move(encoded->bytes);
  headers[kHeader] = std::move(encoded->mark);
  return absl::OkStatus();
}

absl::Status EncodeTask(const Codec& codec, absl::string_view queue, absl::string_view at,
                        NewTask& task) {
  return EncodePayload(codec, task.queue.empty() ? queue : task.queue, at, task.payload,
                       task.headers);
}

absl::Status EncodeResult(const Codec& codec, absl::string_view queue, std::string& result) {
  if (result.empty()) return absl::OkStatus();  // most attempts have none
  auto encoded = Encode(codec, {.queue = queue, .kind = ContentKind::kResult}, result);
  if (!encoded.ok()) return encoded.status();
  result = absl::StrCat(kResultFrame, encoded->mark, "\n", encoded->bytes);
  return absl::OkStatus();
}

absl::Status EncodeAck(const Codec& codec, absl::string_view at, AckItem& item) {
  AckMore& more = item.more;
  if (item.queue.empty() && (!item.result.empty() || more.next_payload)) {
    return absl::InvalidArgumentError(
        absl::StrCat(at, ".queue is empty, and the codec needs it: take LeasedTask::queue"));
  }
  absl::Status status = EncodeResult(codec, item.queue, item.result);
  if (status.ok() && more.next_payload) {
    status = EncodePayload(codec, item.queue, absl::StrCat(at, ".next_payload"),
                           more.next_payload->payload, more.next_payload->headers);
  }
  for (size_t i = 0; status.ok() && i < more.follow_ups.size(); ++i) {
    const std::string task = absl::StrCat(at, ".follow_ups[", i, "]");
    status = EncodeTask(codec, "", task, more.follow_ups[i]);
  }
  return status;
}

// What the codec says of it.
absl::StatusOr<std::string> Decode(const ClientOptions& options, const ContentPlace& place,
                                   absl::string_view mark, absl::string_view bytes) {
  if (options.codec != nullptr) return options.codec->Decode(place, mark, bytes);
  return absl::FailedPreconditionError(
      absl::StrCat("the content is encoded (", mark, "), and this client has no codec"));
}

bool PassesAll(const ClientOptions& options) {
  return options.codec == nullptr && options.pass_encoded;
}

void DecodeTask(const ClientOptions& options, LeasedTask& task) {
  const auto header = task.headers.find(kHeader);
  const bool is_marked = header != task.headers.end();
  if (PassesAll(options) || (options.codec == nullptr && !is_marked)) return;
  auto payload = Decode(options, {.queue = task.queue, .kind = ContentKind::kPayload},
                        is_marked ? header->second : "", task.payload);
  task.content_status = payload.status();
  if (payload.ok() && is_marked) task.headers.erase(header);
  task.payload = payload.ok() ? *std::move(payload) : "";
}

}  // namespace

absl::StatusOr<v1::EnqueueRequest> EncodeToProto(const ClientOptions& options, EnqueueCall call) {
  for (size_t i = 0; options.codec != nullptr && i < call.tasks.size(); ++i) {
    const absl::Status status =
        EncodeTask(*options.codec, call.queue, absl::StrCat("tasks[", i, "]"), call.tasks[i]);
    if (!status.ok()) return status;
  }
  return ToProto(std::move(call));
}

absl::StatusOr<v1::AckRequest> EncodeToAck(const ClientOptions& options,
                                           std::vector<AckItem> items) {
  for (size_t i = 0; options.codec != nullptr && i < items.size(); ++i) {
    const absl::Status status =
        EncodeAck(*options.codec, absl::StrCat("items[", i, "]"), items[i]);
    if (!status.ok()) return status;
  }
  return AckToProto(std::move(items));
}

absl::StatusOr<v1::SettleRequest> EncodeToSettle(const ClientOptions& options,
                                                 std::vector<SettleItem> items) {
  for (size_t i = 0; options.codec != nullptr && i < items.size(); ++i) {
    auto* const ack = std::get_if<AckItem>(&items[i]);
    if (ack == nullptr) continue;
    const absl::Status status =
        EncodeAck(*options.codec, absl::StrCat("items[", i, "].ack"), *ack);
    if (!status.ok()) return status;
  }
  return SettleToProto(std::move(items));
}

void DecodeTasks(const ClientOptions& options, LeaseAnswer& answer) {
  for (LeasedTask& task : answer.tasks) DecodeTask(options, task);
}

void DecodeTasks(const ClientOptions& options, SettleAndLeaseAnswer& answer) {
  if (answer.lease) DecodeTasks(options, *answer.lease);
}

void DecodeResult(const ClientOptions& options, Task& task) {
  if (PassesAll(options) || !absl::StartsWith(task.result, kResultFrame)) return;
  const absl::string_view framed = absl::string_view(task.result).substr(kResultFrame.size());
  const size_t end = framed.find('\n');
  if (end == absl::string_view::npos) return;
  auto result = Decode(options, {.queue = task.queue, .kind = ContentKind::kResult},
                       framed.substr(0, end), framed.substr(end + 1));
  task.content_status = result.status();
  task.result = result.ok() ? *std::move(result) : "";
}

bool IsNotEncoded(const absl::Status& status) {
  return status.GetPayload(kNotEncodedPayload).has_value();
}

TaskError NotDecoded(const absl::Status& status) {
  return {.type = "CONTENT_NOT_DECODED", .text = std::string(status.message())};
}

}  // namespace skiplane::internal
