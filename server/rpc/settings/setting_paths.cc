#include "server/rpc/settings/setting_paths.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/status_macros.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/field.h"

namespace skiplane::rpc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr absl::string_view kAll = "*";
constexpr absl::string_view kRetry = "retry";
constexpr absl::string_view kRetryPrefix = "retry.";
constexpr int kPathsMax = 100;  // more than there are settings: the audit keeps them

bool Has(const SettingPaths& paths, absl::string_view path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

void AddFields(const Descriptor& type, absl::string_view prefix, SettingPaths* paths) {
  for (int i = 0; i < type.field_count(); ++i) {
    paths->push_back(absl::StrCat(prefix, type.field(i)->name()));
  }
}

// What is set: messages and optional fields by presence, enums and lists unless they are
// UNSPECIFIED or empty.
void AddSetFields(const Message& message, absl::string_view prefix, SettingPaths* paths) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    paths->push_back(absl::StrCat(prefix, field->name()));
  }
}

// `index` is the place of the path in the mask, behind those that were read already.
absl::Status CheckPath(const google::protobuf::FieldMask& mask, size_t index,
                       const SettingPaths& read) {
  const std::string& path = mask.paths(static_cast<int>(index));
  const Field field = {"", "update_mask.paths", index};
  if (path == kAll) {
    return mask.paths_size() == 1 ? absl::OkStatus()
                                  : InvalidField(field, "\"*\" must be the only path");
  }
  if (path != kRetry && !Has(AllSettings(), path)) {
    return InvalidField(field,
                        "must name a field of QueueSettings, for example \"retry\", "
                        "\"retry.max_attempts\" or \"history\"");
  }
  return Has(read, path) ? InvalidField(field, "is listed twice") : absl::OkStatus();
}

absl::StatusOr<SettingPaths> SetPaths(const v1::QueueSettings& settings) {
  SettingPaths paths;
  AddSetFields(settings, "", &paths);
  // What is not set in a retry that is set stays as it is.
  if (std::erase(paths, kRetry) > 0) AddSetFields(settings.retry(), kRetryPrefix, &paths);
  if (!paths.empty()) return paths;
  return InvalidField({"settings"},
                      "must have a field that is set, or update_mask must name those that shall "
                      "return to their defaults");
}

}  // namespace

SettingPaths AllSettings() {
  SettingPaths paths;
  AddFields(*v1::QueueSettings::descriptor(), "", &paths);
  std::erase(paths, kRetry);
  AddFields(*v1::RetryPolicy::descriptor(), kRetryPrefix, &paths);
  return paths;
}

absl::StatusOr<SettingPaths> ReadMask(const google::protobuf::FieldMask& mask,
                                      const v1::QueueSettings& settings) {
  RETURN_IF_ERROR(CheckCount(mask.paths_size(), {0, kPathsMax}, {"update_mask.paths"}));
  if (mask.paths().empty()) return SetPaths(settings);
  SettingPaths paths;
  for (size_t i = 0; i < static_cast<size_t>(mask.paths_size()); ++i) {
    RETURN_IF_ERROR(CheckPath(mask, i, paths));
    paths.push_back(mask.paths(static_cast<int>(i)));
  }
  return paths.front() == kAll ? AllSettings() : paths;
}

}  // namespace skiplane::rpc
