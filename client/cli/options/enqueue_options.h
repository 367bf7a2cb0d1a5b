// What skiplane enqueue is told: where the tasks come from, and what they have in common.
#pragma once

#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/source/sources.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skiplane::cli {

struct EnqueueOptions {
  std::string queue{};
  // Exactly one of these is given.
  std::vector<std::string> payloads{};
  // More of them, after "--".
  std::vector<std::string> rest{};
  std::vector<std::string> files{};
  std::string lines{};
  std::string jsonl{};
  std::string csv{};
  std::string tsv{};
  // How streams are read.
  std::vector<std::string> renames{};
  std::string columns{};
  std::string null{};
  bool allow_invalid_utf8 = false;
  // The key is the file's name.
  bool key_from_file = false;
  std::string batch_id{};
  std::optional<int> batch_size{};
  // Texts by the field of NewTask that they set.
  std::map<std::string, std::string> fields{};
  std::vector<std::string> headers{};
};

void AddEnqueueOptions(CLI::App* app, EnqueueOptions* options);

// Moves the rest to the payloads.
EnqueueOptions Whole(EnqueueOptions options);

absl::Status Check(const EnqueueOptions& options);

// Whether the tasks come as rows or lines.
bool IsStream(const EnqueueOptions& options);

// What all tasks have in common.
absl::StatusOr<v1::NewTask> Defaults(const EnqueueOptions& options);

// A source with the stream that it reads.
struct Input {
  std::unique_ptr<std::istream> stream{};
  std::unique_ptr<RecordSource> source{};
};

absl::StatusOr<Input> OpenInput(const EnqueueOptions& options);

}  // namespace skiplane::cli
