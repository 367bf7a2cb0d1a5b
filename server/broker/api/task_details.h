// GetTask: which task is wanted, how much of it, and the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "server/broker/api/permit.h"
#include "server/model/report.h"
#include "server/model/task.h"

namespace skiplane::broker {

struct GetTaskCall {
  model::TaskId id;  // or:
  std::string queue;
  std::string key;      // empty: by the id
  absl::Duration wait;  // for its end; already cut to end before the call's deadline
  bool with_payload = false;
  int attempts_max = 0;
  absl::Time attempts_before = absl::InfiniteFuture();  // where the list of attempts goes on
  Permit permit{};
  Permit payload_permit{};  // attempts that it refuses come without payload and result
  std::string party{};      // as in ListTasksCall
};

struct TaskDetails {
  model::TaskView task;
  model::Page<model::Attempt> attempts;
  std::vector<std::string> stages;  // of each attempt: its name
  std::optional<absl::Time> attempts_before;  // where the list goes on, if it does
};

}  // namespace skiplane::broker
