#include "client/cli/text/wrap.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::cli {

std::string Wrap(absl::string_view text, size_t width) {
  std::string wrapped;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    size_t length = 0;
    for (const absl::string_view word : absl::StrSplit(line, ' ')) {
      const bool fits = length == 0 || length + 1 + word.size() <= width;
      if (length > 0) wrapped.push_back(fits ? ' ' : '\n');
      length = fits && length > 0 ? length + 1 + word.size() : word.size();
      absl::StrAppend(&wrapped, word);
    }
    wrapped.push_back('\n');
  }
  wrapped.pop_back();
  return wrapped;
}

std::string FirstSentence(absl::string_view text) {
  const size_t stop = text.find_first_of(".:\n");
  if (stop == absl::string_view::npos) return std::string(text);
  return std::string(text.substr(0, stop));
}

}  // namespace skiplane::cli
