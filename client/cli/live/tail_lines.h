// What skiplane tail says about a queue, given what it said before.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "skiplane/v1/queue.pb.h"
#include "skiplane/v1/report.pb.h"
#include "skiplane/v1/task.pb.h"

namespace skiplane::cli {

class CountLines {
 public:
  // Empty when no number has changed.
  std::string Next(v1::QueueCounts counts);

 private:
  std::optional<v1::QueueCounts> last_{};
};

class ErrorLines {
 public:
  // Empty for a group without new failures. In the first round every group is known.
  std::string Next(const v1::ErrorGroup& group);

  void EndRound() { is_first_round_ = false; }

 private:
  bool is_first_round_ = true;
  // When each group was last seen, by queue, stage and fingerprint.
  std::map<std::string, std::string> last_seen_;
};

std::string TaskLine(const v1::Task& task);

}  // namespace skiplane::cli
