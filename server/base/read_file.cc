#include "server/base/read_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/bearer_token.h"

namespace skiplane::base {

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot read ", ShownPath(path), ": ", error ? error.message() : "it is no file"));
  }
  std::ifstream file(path, std::ios::binary);
  // One byte more tells that there are more. Not by iterators of the buffer, which throw.
  std::string text(bytes_max + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    return absl::FailedPreconditionError(absl::StrCat("cannot read ", ShownPath(path)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > bytes_max) {
    return absl::FailedPreconditionError(
        absl::StrCat(ShownPath(path), " is larger than ", bytes_max, " bytes"));
  }
  return text;
}

}  // namespace skiplane::base
