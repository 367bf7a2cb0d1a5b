#include "client/cli/options/queue_file.h"

#include <google/protobuf/util/json_util.h>

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "nlohmann/json.hpp"

namespace skiplane::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRetry = "retry";

Json ToJson(const v1::QueueSettings& settings) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(settings, &text, options);
  return status.ok() ? Json::parse(text) : Json::object();
}

// A setting that has no value by default is there as null, so that the document says all.
Json WithNulls(const v1::QueueSettings& settings) {
  Json json = ToJson(settings);
  const auto& type = *v1::QueueSettings::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    if (!field.is_repeated() && !json.contains(field.name())) json[field.name()] = nullptr;
  }
  return json;
}

absl::Status Bad(const std::string& place, absl::string_view message) {
  return UsageError(absl::StrCat(place, ": ", message));
}

absl::Status AddPaths(const std::string& place, const Json& settings, QueueEntry* entry) {
  for (const auto& [name, value] : settings.items()) {
    if (v1::QueueSettings::descriptor()->FindFieldByName(name) == nullptr) {
      return Bad(place, absl::StrCat("there is no setting \"", name, "\""));
    }
    if (name != kRetry || !value.is_object()) {
      entry->paths.push_back(name);
      continue;
    }
    for (const auto& [part, ignored] : value.items()) {
      entry->paths.push_back(absl::StrCat(kRetry, ".", part));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<QueueEntry> ReadEntry(const std::string& place, const Json& json) {
  if (!json.is_object()) return Bad(place, "is no object");
  QueueEntry entry;
  for (const auto& [name, value] : json.items()) {
    if (name == "name" && value.is_string()) {
      entry.name = value.get<std::string>();
    } else if (name == "lane_count" && value.is_number_integer()) {
      entry.lane_count = value.get<int>();
    } else if (name == "settings" && value.is_object()) {
      const auto status = google::protobuf::util::JsonStringToMessage(
          value.dump(-1, ' ', false, Json::error_handler_t::replace), &entry.settings);
      if (!status.ok()) {
        return Bad(absl::StrCat(place, ".settings"), std::string(status.message()));
      }
      const absl::Status paths = AddPaths(absl::StrCat(place, ".settings"), value, &entry);
      if (!paths.ok()) return paths;
    } else {
      return Bad(place, absl::StrCat("\"", name, "\" is none of name (a text), lane_count (a "
                                     "number) and settings (an object)"));
    }
  }
  if (entry.name.empty()) return Bad(place, "has no name");
  return entry;
}

// The value at a path of settings; null if there is none.
Json At(const Json& settings, const std::string& path) {
  const size_t dot = path.find('.');
  const auto found = settings.find(path.substr(0, dot));
  if (found == settings.end()) return nullptr;
  return dot == std::string::npos ? *found : At(*found, path.substr(dot + 1));
}

}  // namespace

std::string WriteQueueFile(const std::vector<v1::Queue>& queues, int indent) {
  Json list = Json::array();
  for (const v1::Queue& queue : queues) {
    list.push_back({{"name", queue.name()},
                    {"lane_count", queue.lane_count()},
                    {"settings", WithNulls(queue.settings())}});
  }
  return Json{{"queues", std::move(list)}}.dump(indent);
}

absl::StatusOr<std::vector<QueueEntry>> ReadQueueFile(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("queues") ||
      !json["queues"].is_array()) {
    return UsageError("the document is not {\"queues\": [...]}, as queues export writes it");
  }
  std::vector<QueueEntry> entries;
  std::set<std::string> names;
  for (const Json& item : json["queues"]) {
    const std::string place = absl::StrCat("queues[", entries.size(), "]");
    absl::StatusOr<QueueEntry> entry = ReadEntry(place, item);
    if (!entry.ok()) return entry.status();
    if (!names.insert(entry->name).second) {
      return Bad(place, absl::StrCat("queue \"", entry->name, "\" is there twice"));
    }
    entries.push_back(*std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::vector<QueueStep>> CompareQueues(
    const std::vector<QueueEntry>& entries, const std::map<std::string, v1::Queue>& known) {
  std::vector<QueueStep> steps;
  for (const QueueEntry& entry : entries) {
    QueueStep& step = steps.emplace_back();
    step.entry = entry;
    const auto found = known.find(entry.name);
    step.is_new = found == known.end();
    if (step.is_new) {
      step.paths = entry.paths;
      continue;
    }
    const v1::Queue& queue = found->second;
    if (entry.lane_count != 0 && entry.lane_count != queue.lane_count()) {
      return UsageError(absl::StrCat("queue \"", entry.name, "\" has ", queue.lane_count(),
                                     " lanes, which are fixed when it is made"));
    }
    step.etag = queue.etag();
    const Json is = ToJson(queue.settings());
    const Json shall = ToJson(entry.settings);
    for (const std::string& path : entry.paths) {
      if (At(is, path) != At(shall, path)) step.paths.push_back(path);
    }
  }
  return steps;
}

}  // namespace skiplane::cli
