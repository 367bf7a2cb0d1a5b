// The output of an attempt that succeeded, and what follows it: plain values, for Client::Ack,
// TaskLease::Ack and Result::Done.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skiplane/new_task.h"

namespace skiplane {

// The content for the next stage, instead of this stage's. Bounds as in NewTask.
struct NextPayload {
  std::string payload{};
  std::string content_type{};
  std::map<std::string, std::string> headers{};
};

// What follows the attempt. By default the task moves to the next stage of its queue, and ends
// after the last one.
struct AckMore {
  // The stage that the task goes to, which may be an earlier one or the same. An item with an
  // unknown stage is refused (kRefused).
  std::string next_stage{};
  // True: the task ends, whatever stages are left. Not together with next_stage.
  bool finish = false;
  // For the next stage; ignored when the task ends. Unset: the content of this stage.
  std::optional<NextPayload> next_payload{};
  // Tasks that are created if, and only if, the attempt is acked: both are one transaction. Each
  // names its queue, and its key_policy must be kKeep: a known key creates no second task. 0 to
  // 100; together at most 1000 in a call. An item with one that cannot be created is refused, for
  // example as NOT_FOUND (QUEUE_NOT_FOUND).
  std::vector<NewTask> follow_ups{};
};

struct AckItem {
  std::string lease_token{};
  // The attempt's output, kept with its history if the queue keeps results. 0 to 1 MiB.
  std::string result{};
  AckMore more{};
  // Where the task is from (LeasedTask::queue). Only a codec needs it, for a result and for a
  // payload of the next stage; the broker knows it from the token.
  std::string queue{};
};

}  // namespace skiplane
