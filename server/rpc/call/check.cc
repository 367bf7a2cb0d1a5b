#include "server/rpc/call/check.h"

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/model/limits.h"

namespace skiplane::rpc {

absl::Status CheckText(absl::string_view text, size_t bytes_max, const Field& field) {
  if (text.size() > bytes_max) {
    return InvalidField(field, absl::StrCat("has ", text.size(), " bytes; at most ", bytes_max));
  }
  if (text.find('\0') != absl::string_view::npos) {
    return InvalidField(field, "must not contain a NUL byte");
  }
  return absl::OkStatus();
}

absl::Status CheckRequiredText(absl::string_view text, size_t bytes_max, const Field& field) {
  if (text.empty()) return InvalidField(field, "is required");
  return CheckText(text, bytes_max, field);
}

absl::Status CheckBytes(absl::string_view bytes, size_t bytes_max, const Field& field) {
  if (bytes.size() <= bytes_max) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("has ", bytes.size(), " bytes; at most ", bytes_max));
}

absl::Status CheckNumber(int64_t value, Range range, const Field& field) {
  if (value >= range.least && value <= range.most) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("is ", value, "; must be ", range.least, " to ",
                                          range.most));
}

absl::Status CheckCount(int count, Range range, const Field& field) {
  if (count >= range.least && count <= range.most) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("has ", count, " entries; must have ", range.least,
                                          " to ", range.most));
}

absl::Status CheckRequestSize(size_t bytes) {
  if (bytes <= static_cast<size_t>(model::kRequestBytesMax)) return absl::OkStatus();
  return base::Refuse(absl::StatusCode::kInvalidArgument, "REQUEST_TOO_LARGE",
                      absl::StrCat("the request has ", bytes, " bytes; at most ",
                                   model::kRequestBytesMax,
                                   ". Nothing was changed: send less in one call"));
}

}  // namespace skiplane::rpc
