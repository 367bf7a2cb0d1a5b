// What a task gets instead of what it has.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/v1/task.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

struct ContentOptions {
  std::vector<std::string> payload{};  // one at most, as those below
  std::string payload_file{};
  std::vector<std::string> content_type{};
  std::vector<std::string> headers{};

  bool IsAny() const {
    return !(payload.empty() && payload_file.empty() && content_type.empty() && headers.empty());
  }
};

void AddContent(CLI::App* app, ContentOptions* options);

// What the task has, but for what the options give. A usage error for two payloads or
// a header without '='; ReadPayload's for a file.
absl::StatusOr<v1::TaskContent> ToContent(const ContentOptions& options, const v1::Task& task);

}  // namespace skiplane::cli
