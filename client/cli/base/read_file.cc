#include "client/cli/base/read_file.h"

#include <cstddef>
#include <fstream>
#include <iostream>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/table.h"

namespace skiplane::cli {
namespace {

constexpr size_t kPayloadBytesMax = size_t{1} << 20;
constexpr size_t kChunkBytes = size_t{1} << 16;

// No more than a byte above `bytes_max`, however much there is.
absl::StatusOr<std::string> Read(const std::string& path, size_t bytes_max) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::string chunk(kChunkBytes, '\0');
  while (in && text.size() <= bytes_max) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk, 0, static_cast<size_t>(in.gcount()));
  }
  // A folder opens, and fails when it is read.
  if (in.bad() || (in.fail() && !in.eof())) {
    const std::string name = path == "-" ? "standard input" : OneLine(path);
    return LocalError(absl::StrCat("cannot read ", name));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  return Read(path, std::numeric_limits<size_t>::max());
}

absl::StatusOr<std::string> ReadPayload(const std::string& path) {
  absl::StatusOr<std::string> payload = Read(path, kPayloadBytesMax);
  if (payload.ok() && payload->size() > kPayloadBytesMax) {
    return UsageError(absl::StrCat(path == "-" ? "standard input" : OneLine(path),
                                   " is larger than 1 MiB, the most for a task"));
  }
  return payload;
}

}  // namespace skiplane::cli
