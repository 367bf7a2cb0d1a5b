// The queues of an installation as one JSON document, as `queues export` writes and `queues apply`
// reads it:
//   {"queues": [{"name": "mail", "lane_count": 1, "settings": {"history_days": 7, ...}}]}
// Settings that are not named stay as they are; null stands for the default.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/v1/queue.pb.h"

namespace skiplane::cli {

// What a document says of one queue.
struct QueueEntry {
  std::string name{};
  int lane_count = 0;  // 0: any
  v1::QueueSettings settings{};
  std::vector<std::string> paths{};  // of the settings that are named
};

// What has to be done with a queue.
struct QueueStep {
  QueueEntry entry{};
  bool is_new = false;
  std::string etag{};                // of the one that exists
  std::vector<std::string> paths{};  // of the settings that change; none: nothing has to be done
};

// `indent`: of each level; -1: all on one line.
std::string WriteQueueFile(const std::vector<v1::Queue>& queues, int indent);

// A usage error that names the place for what is no such document, and for a queue that is there
// twice.
absl::StatusOr<std::vector<QueueEntry>> ReadQueueFile(const std::string& text);

// A usage error if the lanes of a queue, which are fixed, are others.
absl::StatusOr<std::vector<QueueStep>> CompareQueues(const std::vector<QueueEntry>& entries,
                                                     const std::map<std::string, v1::Queue>& known);

}  // namespace skiplane::cli
