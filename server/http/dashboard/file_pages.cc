#include "server/http/dashboard/file_pages.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/http/gzip.h"

namespace skiplane::http::dashboard {
namespace {

constexpr char kIndex[] = "index.html";
// Nothing but our own files runs or is loaded, no other page shows this one in a frame, and it
// calls nobody else.
constexpr char kContentPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'";

std::string TypeOf(absl::string_view name) {
  if (absl::EndsWith(name, ".js")) return "text/javascript; charset=utf-8";
  if (absl::EndsWith(name, ".css")) return "text/css; charset=utf-8";
  return "text/html; charset=utf-8";
}

// If-None-Match has one of the forms "a", W/"a", a list of them, or *.
bool HasVersion(const Head& head, absl::string_view tag) {
  absl::ConsumePrefix(&tag, "W/");
  for (const auto& [name, value] : head.fields) {
    if (name != "if-none-match") continue;
    for (absl::string_view known : absl::StrSplit(value, ',')) {
      known = absl::StripAsciiWhitespace(known);
      absl::ConsumePrefix(&known, "W/");
      if (known == tag || known == "*") return true;
    }
  }
  return false;
}

}  // namespace

FilePages::FilePages(const std::vector<File>& files) {
  for (const File& file : files) {
    std::string text(file.text);
    std::string packed = Gzip(text);
    // Weak, since both forms of the file have the same.
    pages_.push_back({file.name, TypeOf(file.name), absl::StrCat("W/\"", file.version, "\""),
                      std::move(text), std::move(packed)});
  }
}

const FilePages::Page* FilePages::FileAt(absl::string_view path) const {
  absl::ConsumePrefix(&path, kRoot);
  const auto found =
      std::ranges::find_if(pages_, [path](const Page& page) { return page.name == path; });
  return found == pages_.end() ? nullptr : &*found;
}

bool FilePages::Has(absl::string_view path) const {
  if (FileAt(path) != nullptr) return true;
  absl::ConsumePrefix(&path, kRoot);
  // Further down a point may be part of a queue's name.
  return absl::StrContains(path, '/') || !absl::StrContains(path, '.');
}

Response FilePages::Answer(const Head& head) const {
  const Page* page = FileAt(head.path);
  if (page == nullptr) page = FileAt(absl::StrCat(kRoot, kIndex));
  Response response{200, "", "", {{"ETag", page->tag},
                                  {"Cache-Control", "no-cache"},
                                  {"Vary", "Accept-Encoding"},
                                  {"Referrer-Policy", "no-referrer"},
                                  {"Cross-Origin-Opener-Policy", "same-origin"},
                                  {"Content-Security-Policy", kContentPolicy}}};
  if (HasVersion(head, page->tag)) {
    response.status = 304;
    return response;
  }
  response.content_type = page->content_type;
  if (!page->packed.empty() && TakesGzip(head)) {
    response.body = page->packed;
    response.fields.emplace_back("Content-Encoding", "gzip");
  } else {
    response.body = page->text;
  }
  return response;
}

}  // namespace skiplane::http::dashboard
