// Answers GET and HEAD with the dashboard's files. They hold nothing secret: who asks is no matter.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/http/dashboard/files.h"
#include "server/http/message.h"

namespace skiplane::http::dashboard {

inline constexpr char kRoot[] = "/dashboard/";

class FilePages {
 public:
  // `files`: one of them is index.html.
  explicit FilePages(const std::vector<File>& files);

  // The page shows itself below addresses of its own, which people share and load again: whatever
  // is below kRoot has it, but for names of files that are not there. `path` begins with kRoot.
  bool Has(absl::string_view path) const;

  // To a path that is there.
  Response Answer(const Head& head) const;

 private:
  struct Page {
    absl::string_view name;
    std::string content_type;
    std::string tag;  // of this version
    std::string text;
    std::string packed;  // empty: there was no memory for it
  };

  // Null if there is no file of that name directly below kRoot.
  const Page* FileAt(absl::string_view path) const;

  std::vector<Page> pages_;
};

}  // namespace skiplane::http::dashboard
