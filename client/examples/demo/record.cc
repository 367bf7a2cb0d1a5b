#include "client/examples/demo/record.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::demo {

std::string ToLine(const Record& record) {
  const std::string head =
      absl::StrCat(absl::CHexEscape(record.path), "\t", record.attempt);
  if (!record.digest) return absl::StrCat(head, "\n");
  return absl::StrCat(head, "\t", record.digest->sha256, "\t", record.digest->words, "\t",
                      record.digest->bytes, "\n");
}

std::optional<Record> ParseLine(absl::string_view line) {
  const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
  if (fields.size() != 2 && fields.size() != 5) return std::nullopt;
  Record record;
  if (!absl::CUnescape(fields[0], &record.path)) return std::nullopt;
  if (!absl::SimpleAtoi(fields[1], &record.attempt)) return std::nullopt;
  if (fields.size() == 2) return record;
  Digest& digest = record.digest.emplace();
  digest.sha256 = std::string(fields[2]);
  if (!absl::SimpleAtoi(fields[3], &digest.words)) return std::nullopt;
  if (!absl::SimpleAtoi(fields[4], &digest.bytes)) return std::nullopt;
  return record;
}

bool WriteLine(int fd, absl::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(fd, line.data(), line.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) line.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace skiplane::demo
