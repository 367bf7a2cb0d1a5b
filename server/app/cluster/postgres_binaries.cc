#include "server/app/cluster/postgres_binaries.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::app {
namespace {

constexpr char kDebianRoot[] = "/usr/lib/postgresql";
constexpr int kLeastVersion = 15;

bool HasServer(const std::string& folder) {
  return access(absl::StrCat(folder, "/initdb").c_str(), X_OK) == 0 &&
         access(absl::StrCat(folder, "/postgres").c_str(), X_OK) == 0;
}

// The folder of the newest of Debian's versions, from `least` on, that is fit; empty if none is.
std::string NewestOfDebian(int least, absl::FunctionRef<bool(const std::string&)> is_fit) {
  std::string best;
  int best_version = least - 1;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kDebianRoot, error)) {
    int version = 0;
    const std::string folder = absl::StrCat(entry.path().string(), "/bin");
    if (!absl::SimpleAtoi(entry.path().filename().string(), &version)) continue;
    if (version <= best_version || !is_fit(folder)) continue;
    best_version = version;
    best = folder;
  }
  return best;
}

std::string FromPath() {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return "";
  for (absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    if (HasServer(std::string(folder))) return std::string(folder);
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> FindPostgresBinaries(absl::string_view given) {
  if (!given.empty()) {
    if (HasServer(std::string(given))) return std::string(given);
    return absl::NotFoundError(absl::StrCat("no initdb and postgres in ", given));
  }
  std::string folder = NewestOfDebian(kLeastVersion, HasServer);
  if (folder.empty()) folder = FromPath();
  if (!folder.empty()) return folder;
  return absl::NotFoundError(
      "PostgreSQL's server programs were not found: install the package postgresql (15 or newer)");
}

std::string FindPostgresProgram(const std::string& name, const std::string& given) {
  const auto has_it = [&name](const std::string& folder) {
    return access(absl::StrCat(folder, "/", name).c_str(), X_OK) == 0;
  };
  if (!given.empty() && has_it(given)) return absl::StrCat(given, "/", name);
  const std::string folder = NewestOfDebian(/*least=*/1, has_it);
  return folder.empty() ? name : absl::StrCat(folder, "/", name);
}

}  // namespace skiplane::app
