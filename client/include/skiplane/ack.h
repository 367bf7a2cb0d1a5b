// What may be said of an attempt that succeeded: plain values, taken by Client::Ack, TaskLease::Ack
// and Result::Done.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "skiplane/new_task.h"

namespace skiplane {

// What the next stage gets instead of what this one got. Bounds as in NewTask.
struct NextPayload {
  std::string payload{};
  std::string content_type{};
  std::map<std::string, std::string> headers{};
};

// A task that is made if, and only if, the attempt is acked: both are one transaction.
struct FollowUp {
  std::string queue{};
  // Its key_policy must be kKeep: a key that is known makes no second task.
  NewTask task{};
};

// What comes after the attempt. By default the task moves to the next stage of its queue, and ends
// after the last one.
struct AckMore {
  // The stage that the task goes to, which may be an earlier one or the same. An item with a name
  // that is none of the queue's is refused (kRefused).
  std::string next_stage{};
  // True: the task ends, whatever stages are left. Not together with next_stage.
  bool finish = false;
  // For the next stage; ignored when the task ends. Unset: what this stage got.
  std::optional<NextPayload> next_payload{};
  // 0 to 100; together at most 1000 in a call. One that cannot be made has its item refused, for
  // example as NOT_FOUND (QUEUE_NOT_FOUND).
  std::vector<FollowUp> follow_ups{};
};

struct AckItem {
  std::string lease_token{};
  // What the attempt brought forth, kept with its history if the queue keeps results. 0 to 1 MiB.
  std::string result{};
  AckMore more{};
};

}  // namespace skiplane
