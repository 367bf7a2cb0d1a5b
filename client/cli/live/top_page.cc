#include "client/cli/live/top_page.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/text/instant.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

constexpr char kDefaultPath[] = "counts.ready_count";
constexpr char kKeys[] =
    "q quit; sort: n name, s scheduled, r ready, l leased, f failed, i in/s, d done/s, e fail/s, "
    "o oldest, p paused; arrows and page keys scroll";

// The letters, in the order of the columns.
constexpr absl::string_view kLetters = "nsrlfideop";

const Columns& WorkerColumns() {
  static const Columns columns{{"WORKER", "name"},
                               {"HANDLE", "worker_handle"},
                               {"HOLDS", "leased_count"},
                               {"QUEUES", "queues"},
                               {"SINCE", "create_time"}};
  return columns;
}

Table WorkerTable(const Sight& sight) {
  FieldTable table(WorkerColumns(), Order{.path = "leased_count", .is_descending = true});
  for (const v1::Worker& worker : sight.workers) table.Add(worker);
  return table.Sorted();
}

std::string Totals(const Sight& sight) {
  int64_t ready = 0, leased = 0, failed = 0;
  for (const v1::QueueSummary& queue : sight.queues) {
    ready += queue.counts().ready_count();
    leased += queue.counts().leased_count();
    failed += queue.counts().failed_count();
  }
  const std::string workers =
      sight.workers_status.ok()
          ? absl::StrCat(FormatCount(static_cast<int64_t>(sight.workers.size())), " workers")
          : absl::StrCat("workers cannot be shown: ", Explain(sight.workers_status));
  return absl::StrCat(FormatCount(static_cast<int64_t>(sight.queues.size())), " queues: ",
                      FormatCount(ready), " ready, ", FormatCount(leased), " leased, ",
                      FormatCount(failed), " failed; ", workers);
}

// The lines of a table, its head first.
std::vector<std::string> LinesOf(const Table& table, size_t width, bool is_colored = false) {
  std::vector<std::string> lines = absl::StrSplit(table.Render(width, is_colored), '\n');
  lines.pop_back();  // what is behind the last line break
  return lines;
}

std::string State(const Sight& sight, const std::string& broker) {
  std::string line = absl::StrCat("skiplane top  ", broker);
  if (sight.time > absl::InfinitePast()) absl::StrAppend(&line, "  ", FormatInstant(sight.time));
  if (!sight.status.ok()) absl::StrAppend(&line, "  ", Explain(sight.status), "; asking again");
  return line;
}

// The worker lines of a screen: a third of it at most, and what is left out is counted.
std::vector<std::string> Workers(const Sight& sight, ScreenSize size) {
  if (sight.workers.empty()) return {};
  std::vector<std::string> lines = LinesOf(WorkerTable(sight), size.width);
  const size_t most = size.height / 3;
  if (lines.size() > most && most > 1) {
    const size_t more = lines.size() - most + 1;
    lines.resize(most - 1);
    lines.push_back(absl::StrCat("and ", more, " more: skiplane workers"));
  }
  lines.insert(lines.begin(), "");
  return most > 1 ? lines : std::vector<std::string>{};
}

}  // namespace

const Columns& TopColumns() {
  static const Columns columns{{"QUEUE", "queue"},
                               {"SCHEDULED", "counts.scheduled_count"},
                               {"READY", kDefaultPath},
                               {"LEASED", "counts.leased_count"},
                               {"FAILED", "counts.failed_count"},
                               {"IN/S", "enqueue_rate"},
                               {"DONE/S", "success_rate"},
                               {"FAIL/S", "failure_rate"},
                               {"OLDEST", "oldest_ready_age"},
                               {"PAUSED", "pause_mode"}};
  return columns;
}

TopPage::TopPage(std::optional<Order> order, bool is_colored)
    : order_(order.value_or(Order{.path = kDefaultPath, .is_descending = true})),
      is_colored_(is_colored) {}

Table TopPage::QueueTable(const Sight& sight) const {
  FieldTable table(TopColumns(), order_);
  for (const v1::QueueSummary& queue : sight.queues) table.Add(queue);
  return table.Sorted();
}

void TopPage::Sort(char letter) {
  const size_t place = kLetters.find(letter);
  if (place == absl::string_view::npos) return;
  const std::string& path = TopColumns()[place].second;
  const bool is_name = place == 0;
  order_ = {.path = path,
            .is_descending = path == order_.path ? !order_.is_descending : !is_name};
  first_ = 0;
}

bool TopPage::Press(const Stroke& stroke) {
  switch (stroke.key) {
    case Key::kUp: --first_; break;
    case Key::kDown: ++first_; break;
    case Key::kPageUp: first_ -= shown_; break;
    case Key::kPageDown: first_ += shown_; break;
    case Key::kHome: first_ = 0; break;
    case Key::kEnd: first_ = std::numeric_limits<int32_t>::max(); break;
    case Key::kLetter:
      if (stroke.letter == 'q') return false;
      Sort(stroke.letter);
      break;
    case Key::kNone: break;
  }
  first_ = std::max<int64_t>(first_, 0);
  return true;
}

std::vector<std::string> TopPage::Render(const Sight& sight, const std::string& broker,
                                         ScreenSize size) {
  const std::vector<std::string> workers = Workers(sight, size);
  std::vector<std::string> queues = LinesOf(QueueTable(sight), size.width, is_colored_);
  const auto count = static_cast<int64_t>(queues.size()) - 1;
  constexpr int64_t kOthers = 5;  // state, totals, blank, head of the queues, keys
  shown_ = std::max<int64_t>(static_cast<int64_t>(size.height - workers.size()) - kOthers, 1);
  first_ = std::clamp<int64_t>(first_, 0, std::max<int64_t>(count - shown_, 0));
  std::vector<std::string> lines{Utf8Cut(OneLine(State(sight, broker)), size.width),
                                 Utf8Cut(OneLine(Totals(sight)), size.width), "", queues.front()};
  const auto begin = queues.begin() + 1 + first_;
  lines.insert(lines.end(), begin, begin + std::min(shown_, count - first_));
  lines.insert(lines.end(), workers.begin(), workers.end());
  lines.resize(size.height);
  lines.back() = Utf8Cut(kKeys, size.width);
  return lines;
}

std::string TopPage::RenderAll(const Sight& sight, size_t width) const {
  std::string text =
      absl::StrCat(Totals(sight), "\n\n", QueueTable(sight).Render(width, is_colored_));
  if (!sight.workers.empty()) absl::StrAppend(&text, "\n", WorkerTable(sight).Render(width));
  return text;
}

}  // namespace skiplane::cli
