#include "client/cli/text/instant.h"

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {

absl::StatusOr<absl::Time> ParseInstant(absl::string_view text) {
  std::string plain(text);
  if (plain.size() > 10 && plain[10] == 'T') plain[10] = ' ';
  absl::Time time;
  for (const char* const format :
       {"%Y-%m-%d %H:%M:%E*S%Ez", "%Y-%m-%d %H:%M:%E*S", "%Y-%m-%d %H:%M%Ez", "%Y-%m-%d %H:%M",
        "%Y-%m-%d"}) {
    if (absl::ParseTime(format, plain, absl::LocalTimeZone(), &time, nullptr)) return time;
  }
  return UsageError(absl::StrCat("'", text,
                                 "' is not a time such as 2026-11-21T10:00:00Z (or, in the local "
                                 "zone, '2026-11-21 10:00')"));
}

std::string FormatInstant(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", time, absl::LocalTimeZone());
}

}  // namespace skiplane::cli
