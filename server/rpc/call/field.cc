#include "server/rpc/call/field.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/rpc/call/text.h"

namespace skiplane::rpc {
namespace {

constexpr size_t kKeyBytesShown = 64;

}  // namespace

std::string Field::Path() const {
  std::string path;
  if (!list.empty()) absl::StrAppend(&path, list, "[", index, "]");
  if (!list.empty() && !(name.empty() && outer.empty())) absl::StrAppend(&path, ".");
  if (!outer.empty()) absl::StrAppend(&path, outer, ".");
  absl::StrAppend(&path, name);
  if (key != nullptr) {
    const std::string shown = absl::Utf8SafeCEscape(CutText(*key, kKeyBytesShown));
    absl::StrAppend(&path, "[\"", shown, "\"]");
  }
  return path;
}

absl::Status InvalidField(const Field& field, absl::string_view message) {
  return base::InvalidField(field.Path(), message);
}

}  // namespace skiplane::rpc
