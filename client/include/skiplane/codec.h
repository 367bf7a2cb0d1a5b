// Changes content before it leaves the process and changes it back when it returns, for example by
// encryption: broker, database and backups then hold what the codec made, and read none of it.
//
//   auto client = skiplane::Client::Connect({.codec = my_codec});
//
// Content is what nobody but producers and workers needs to read: the payload of a task, of a
// follow-up and of the next stage, and the result of an ack. Everything else stays readable, since
// the broker or its operators use it: queues, keys, headers, content types, schedules, progress,
// errors. Put nothing there that is secret.
//
// The header `skiplane-codec` says of a payload that a codec made it, and how; a result begins with
// the same. Both are taken off again when the content is decoded. Of the 64 headers of a task 63
// are left, and what Encode returns counts for the limit of 1 MiB.
//
// Content that cannot be decoded is given to no handler. A Worker ends the attempt as failed, with
// the error type CONTENT_NOT_DECODED: the task keeps its content, runs again after the queue's
// retry delay, perhaps at a worker that has the key, and is a dead letter when no attempt is left.
// Client::Lease tells of it in LeasedTask::content_status.
//
// A repeat of an Enqueue by your own program, under a request id of your own, encodes anew. Where
// the codec makes other bytes of the same content each time, as encryption does, it is refused as
// REQUEST_ID_REUSED if the first one was committed. Keys have no such limit, but with
// KEY_POLICY_SCHEDULE each declaration is then a change (REPLACED), also at a service's next start.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace skiplane {

enum class ContentKind { kPayload, kResult };

// Where content belongs. A codec can bind it to that, so that it is refused anywhere else.
struct ContentPlace {
  absl::string_view queue{};
  ContentKind kind = ContentKind::kPayload;
};

struct EncodedContent {
  std::string bytes{};
  // How it was made, for Decode and for people, for example the name of a cipher and the id of a
  // key. 1 to 128 bytes of visible ASCII.
  std::string mark{};
};

// Thread-safe. Called on the thread of the caller to encode, and on one of gRPC to decode: it must
// neither block nor throw.
class Codec {
 public:
  virtual ~Codec() = default;

  // An error fails the call, before anything is sent. A Worker ends the attempt whose output cannot
  // be encoded as failed, with the error type CONTENT_NOT_ENCODED, so that the task runs again; the
  // acks of others are sent.
  virtual absl::StatusOr<EncodedContent> Encode(const ContentPlace& place,
                                                absl::string_view content) const = 0;

  // The content that Encode got. `mark` is empty for a payload that no codec made: return it as it
  // is, or an error where nobody may put such a one. A result without a mark is not asked for.
  virtual absl::StatusOr<std::string> Decode(const ContentPlace& place, absl::string_view mark,
                                             absl::string_view bytes) const = 0;
};

}  // namespace skiplane
