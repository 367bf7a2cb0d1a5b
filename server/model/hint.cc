#include "server/model/hint.h"

#include <limits>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::model {
namespace {

constexpr absl::string_view kKindNames[] = {"tasks", "queues", "broker"};
constexpr absl::string_view kNobody = "-";

bool ParseInt16(absl::string_view text, int16_t* value) {
  int number = 0;
  if (!absl::SimpleAtoi(text, &number)) return false;
  if (number < std::numeric_limits<int16_t>::min()) return false;
  if (number > std::numeric_limits<int16_t>::max()) return false;
  *value = static_cast<int16_t>(number);
  return true;
}

bool ParseTasks(const std::vector<absl::string_view>& words, Hint* hint) {
  int64_t micros = 0;
  int is_ready = 0;
  if (words.size() != 8) return false;
  if (!absl::SimpleAtoi(words[2], &hint->lane) || !ParseInt16(words[3], &hint->stage)) return false;
  if (!ParseInt16(words[4], &hint->priority)) return false;
  if (!absl::SimpleAtoi(words[5], &is_ready) || !absl::SimpleAtoi(words[6], &hint->count))
    return false;
  if (!absl::SimpleAtoi(words[7], &micros)) return false;
  hint->is_ready = is_ready != 0;
  hint->schedule_time = absl::FromUnixMicros(micros);
  return true;
}

}  // namespace

std::string FormatHint(const Hint& hint) {
  std::string text = absl::StrCat(kKindNames[static_cast<int>(hint.kind)], " ",
                                  hint.origin.empty() ? kNobody : hint.origin);
  if (hint.kind == HintKind::kTasks) {
    absl::StrAppend(&text, " ", hint.lane, " ", hint.stage, " ", hint.priority);
    absl::StrAppend(&text, " ", hint.is_ready ? 1 : 0, " ", hint.count, " ",
                    absl::ToUnixMicros(hint.schedule_time));
  }
  return text;
}

std::optional<Hint> ParseHint(absl::string_view text) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  if (words.size() < 2) return std::nullopt;
  Hint hint;
  if (words[1] != kNobody) hint.origin = std::string(words[1]);
  if (words[0] == kKindNames[0]) {
    if (!ParseTasks(words, &hint)) return std::nullopt;
    return hint;
  }
  if (words.size() != 2) return std::nullopt;
  if (words[0] == kKindNames[1]) {
    hint.kind = HintKind::kQueues;
  } else if (words[0] == kKindNames[2]) {
    hint.kind = HintKind::kBroker;
  } else {
    return std::nullopt;
  }
  return hint;
}

}  // namespace skiplane::model
