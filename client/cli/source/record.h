// One task as its source describes it: names and texts, which become a NewTask of the API.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "skiplane/v1/broker.pb.h"

namespace skiplane::cli {

// Names are the fields of NewTask (payload, key, priority, delay, …), "headers.NAME", and
// "payload_base64" for payloads that are not text.
struct Record {
  // For messages: "line 17", "file a.json".
  std::string place{};
  // The file that the task is made of, if it is a file.
  std::string name{};
  std::vector<std::pair<std::string, std::string>> fields{};
};

// Where records come from.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // The next record; nothing at the end. Failures name the place.
  virtual absl::StatusOr<std::optional<Record>> Next() = 0;
};

// Which name of the source means which field; "-" leaves it out.
using Renames = std::map<std::string, std::string>;

// The field that `name` means: a usage error for one that tasks do not have.
absl::StatusOr<std::string> FieldOf(const std::string& name, const Renames& renames);

// A usage error if the payload is not UTF-8: of a stream of text, where other bytes mean that a
// program wrote it in another character set.
absl::Status CheckText(const Record& record);

// `defaults` with the fields of the record. Failures name the record's place.
absl::StatusOr<v1::NewTask> ToTask(const Record& record, const v1::NewTask& defaults);

}  // namespace skiplane::cli
