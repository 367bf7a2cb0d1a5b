#include "client/cli/source/record.h"

#include <algorithm>
#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/field.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

constexpr absl::string_view kBase64 = "payload_base64";

absl::Status Set(v1::NewTask& task, const std::string& name, const std::string& text) {
  if (name == kBase64) {
    if (absl::Base64Unescape(text, task.mutable_payload())) return absl::OkStatus();
    return UsageError("not base64");
  }
  const std::string fault = name == "payload" ? "" : Utf8Fault(text);
  if (!fault.empty()) return UsageError(fault);
  return SetField(task, name, text);
}

// Of two that exclude each other the later one would win in silence.
absl::Status CheckChoices(const Record& record) {
  constexpr std::array<std::array<absl::string_view, 2>, 3> kChoices{
      {{"delay", "schedule_time"}, {"period", "cron"}, {"payload", kBase64}}};
  const auto has = [&](absl::string_view name) {
    return std::any_of(record.fields.begin(), record.fields.end(),
                       [&](const auto& field) { return field.first == name; });
  };
  for (const auto& [one, other] : kChoices) {
    if (has(one) && has(other)) return UsageError(absl::StrCat("both ", one, " and ", other));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> FieldOf(const std::string& name, const Renames& renames) {
  const auto renamed = renames.find(name);
  const std::string& field = renamed == renames.end() ? name : renamed->second;
  const bool is_header = absl::StartsWith(field, "headers.") && field.size() > 8;
  if (field == "-" || field == kBase64 || is_header) return field;
  const auto* const descriptor = v1::NewTask::descriptor()->FindFieldByName(field);
  if (descriptor != nullptr && !descriptor->is_map()) return field;
  return UsageError(absl::StrCat("tasks have no '", OneLine(field), "': rename it with --map ",
                                 OneLine(name), "=FIELD, or leave it out with --map ",
                                 OneLine(name), "=-"));
}

absl::Status CheckText(const Record& record) {
  for (const auto& [name, text] : record.fields) {
    if (name != "payload") continue;
    const std::string fault = Utf8Fault(text);
    if (fault.empty()) continue;
    return UsageError(absl::StrCat(
        record.place, ": payload: ", fault, ". Have it written as UTF-8, give bytes as "
        "payload_base64, or take them as they are with --allow-invalid-utf8"));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::NewTask> ToTask(const Record& record, const v1::NewTask& defaults) {
  v1::NewTask task = defaults;
  absl::Status status = CheckChoices(record);
  if (!status.ok()) return UsageError(absl::StrCat(record.place, ": ", status.message()));
  for (const auto& [name, text] : record.fields) {
    status = Set(task, name, text);
    if (status.ok()) continue;
    return UsageError(absl::StrCat(record.place, ": ", name, ": ", OneLine(status.message())));
  }
  return task;
}

}  // namespace skiplane::cli
