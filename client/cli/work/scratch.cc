#include "client/cli/work/scratch.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"

namespace skiplane::cli {

absl::StatusOr<Scratch> Scratch::Make() {
  const char* const set = std::getenv("TMPDIR");
  return MakeIn(set == nullptr || *set == '\0' ? "/tmp" : set, "skiplane-work");
}

absl::StatusOr<Scratch> Scratch::MakeIn(const std::string& parent, const std::string& name) {
  Scratch scratch;
  std::string path = absl::StrCat(parent, "/", name, "-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return LocalError(absl::StrCat("cannot make a folder in ", parent, " for the programs' files: ",
                                   std::strerror(errno), "; TMPDIR may name another"));
  }
  scratch.path_ = std::move(path);
  return scratch;
}

absl::StatusOr<Scratch> Scratch::MakeInside(const std::string& name) const {
  mkdir(path_.c_str(), 0700);  // fails if it is there, as it should be
  return MakeIn(path_, name);
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

}  // namespace skiplane::cli
