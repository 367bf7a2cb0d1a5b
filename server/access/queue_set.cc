#include "server/access/queue_set.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "server/model/limits.h"

namespace skiplane::access {
namespace {

// Keeps only the last * to return to: an earlier one need not take more once a later one was
// reached, so the time has a bound.
bool Matches(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0, star = absl::string_view::npos, begin = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      begin = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++begin;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == absl::string_view::npos;
}

}  // namespace

bool IsQueuePattern(absl::string_view text) {
  constexpr absl::string_view kOthers = "._-*?";
  return !text.empty() && text.size() <= model::kQueueNameBytesMax &&
         std::all_of(text.begin(), text.end(), [kOthers](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  kOthers.find(c) != absl::string_view::npos;
         });
}

void QueueSet::Add(absl::string_view pattern) {
  if (pattern == "*") {
    has_all_ = true;
  } else if (pattern.find_first_of("*?") == absl::string_view::npos) {
    names_.emplace(pattern);
  } else {
    patterns_.emplace(pattern);
  }
}

bool QueueSet::Contains(absl::string_view queue) const {
  return has_all_ || names_.contains(queue) ||
         std::any_of(patterns_.begin(), patterns_.end(), [queue](const std::string& pattern) {
           return Matches(pattern, queue);
         });
}

std::vector<std::string> QueueSet::Patterns() const {
  if (has_all_) return {"*"};
  std::vector<std::string> all(names_.begin(), names_.end());
  all.insert(all.end(), patterns_.begin(), patterns_.end());
  return all;
}

}  // namespace skiplane::access
