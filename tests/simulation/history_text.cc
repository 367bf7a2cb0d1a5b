#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/simulation/history.h"

namespace skiplane::simulation {
namespace {

constexpr std::array kKinds = {"enqueue", "call",        "cancel", "pause", "outage",
                               "deaf",    "memory_full", "clock",  "drain"};
constexpr std::array kHistoryFields = {
    std::pair{"brokers", &History::brokers},
    std::pair{"queues", &History::queues},
    std::pair{"lanes_each", &History::lanes_each},
    std::pair{"stages_each", &History::stages_each},
    std::pair{"slowest", &History::slowest},
    std::pair{"rescan", &History::rescan},
    std::pair{"lost", &History::lost},
    std::pair{"failing", &History::failing},
    std::pair{"lease_next", &History::lease_next},
    std::pair{"hand_off", &History::hand_off},
    std::pair{"packing", &History::packing},
    std::pair{"returned", &History::returned},
    std::pair{"dying", &History::dying}};
constexpr std::array kInputFields = {
    std::pair{"broker", &Input::broker},     std::pair{"what", &Input::what},
    std::pair{"priority", &Input::priority}, std::pair{"count", &Input::count},
    std::pair{"number", &Input::number},     std::pair{"request", &Input::request},
    std::pair{"principal", &Input::principal}, std::pair{"worker", &Input::worker}};

template <typename Object, typename Fields>
void PrintFields(const Object& object, const Fields& fields, std::string* text) {
  for (const auto& [name, field] : fields) absl::StrAppend(text, " ", name, "=", object.*field);
}

using Words = std::vector<std::string>;

// The value of the word NAME=VALUE.
template <typename Value>
bool Read(const Words& words, const std::string& name, Value* value) {
  for (const std::string& word : words) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (parts.first == name) return absl::SimpleAtoi(parts.second, value);
  }
  return false;
}

template <typename Object, typename Fields>
bool ReadFields(const Words& words, const Fields& fields, Object* object) {
  return std::ranges::all_of(fields, [&](const auto& field) {
    return Read(words, field.first, &(object->*field.second));
  });
}

bool ReadWanted(const Words& words, std::vector<int>* wanted) {
  const auto found = std::ranges::find_if(
      words, [](const std::string& word) { return word.starts_with("wanted="); });
  if (found == words.end()) return false;
  for (const auto lane_stage : absl::StrSplit(found->substr(7), ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(lane_stage, &wanted->emplace_back())) return false;
  }
  return true;
}

bool ReadInput(const Words& words, Input* input) {
  int64_t at = 0;
  int64_t span = 0;
  const auto kind = std::ranges::find(kKinds, words.front());
  if (kind == kKinds.end() || !Read(words, "at", &at) || !Read(words, "span", &span)) return false;
  input->kind = static_cast<Input::Kind>(kind - kKinds.begin());
  input->at = Span(at);
  input->span = Span(span);
  return ReadFields(words, kInputFields, input) && ReadWanted(words, &input->wanted);
}

}  // namespace

std::string Print(const Input& input) {
  std::string text = absl::StrCat("  ", kKinds[static_cast<size_t>(input.kind)], " at=",
                                  input.at.count(), " span=", input.span.count());
  PrintFields(input, kInputFields, &text);
  absl::StrAppend(&text, " wanted=", absl::StrJoin(input.wanted, ","));
  return text;
}

std::string Print(const History& history) {
  std::string text = absl::StrCat("history seed=", history.seed, " luck=", history.luck);
  PrintFields(history, kHistoryFields, &text);
  for (const Input& input : history.inputs) absl::StrAppend(&text, "\n", Print(input));
  return text + "\n";
}

std::optional<History> Parse(const std::string& text) {
  History history;
  bool is_begun = false;
  for (const auto line : absl::StrSplit(text, '\n')) {
    const Words words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty()) continue;
    if (!is_begun) {
      is_begun = words.front() == "history" && Read(words, "seed", &history.seed) &&
                 Read(words, "luck", &history.luck) && ReadFields(words, kHistoryFields, &history);
      if (!is_begun) return std::nullopt;
    } else if (!ReadInput(words, &history.inputs.emplace_back())) {
      return std::nullopt;
    }
  }
  if (!is_begun) return std::nullopt;
  return history;
}

}  // namespace skiplane::simulation
