#include "client/examples/demo/files.h"

#include <filesystem>
#include <set>
#include <system_error>

namespace skiplane::demo {

std::vector<std::string> ListFiles(const std::vector<std::string>& roots) {
  namespace fs = std::filesystem;
  std::set<std::string> paths;
  for (const std::string& root : roots) {
    std::error_code error;
    fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied,
                                           error);
    const fs::recursive_directory_iterator end;
    for (; !error && entry != end; entry.increment(error)) {
      std::error_code gone;
      if (entry->symlink_status(gone).type() == fs::file_type::regular) {
        paths.insert(entry->path().string());
      }
    }
  }
  return {paths.begin(), paths.end()};
}

}  // namespace skiplane::demo
