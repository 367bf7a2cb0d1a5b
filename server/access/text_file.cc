#include "server/access/text_file.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::access {

std::vector<absl::string_view> Words(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
}

absl::Status ForEachLine(absl::string_view text, absl::string_view file, size_t bytes_max,
                         absl::FunctionRef<absl::Status(absl::string_view)> take) {
  if (text.size() > bytes_max) {
    return absl::FailedPreconditionError(absl::StrCat(file, ": above ", bytes_max, " bytes"));
  }
  int number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(whole);
    if (line.empty() || line.front() == '#') continue;
    const absl::Status status = take(line);
    if (!status.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat(file, " line ", number, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace skiplane::access
