#include "server/broker/observe/watchers.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/broker/api/refusals.h"
#include "server/broker/observe/queue_summaries.h"
#include "server/model/limits.h"
#include "server/pg/conflicts.h"
#include "server/store/queues.h"

namespace skiplane::broker {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kReadEvery(1);
constexpr int kShare = 4;  // of the time of one connection: reads of very many queues take longer
constexpr std::chrono::seconds kPatience(10);  // with a database that cannot be read
// An answer without changes tells that the connection stands.
constexpr std::chrono::seconds kQuietMax(30);

absl::Status HasEnded() { return absl::CancelledError("nobody watches any more"); }

absl::Status TooManyWatches() {
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_CALLS",
                   absl::StrCat(kWatchesOfPartyMax, " Watch calls of this caller are open, the "
                                "most that one caller may have at a broker: end one, or share one "
                                "among all who look")),
      absl::Seconds(1));
}

}  // namespace

class Watchers::Watcher final : public QueueWatcher {
 public:
  Watcher(Watchers& watchers, WatchCall call)
      : call_(std::move(call)),
        names_(call_.queues.begin(), call_.queues.end()),
        watchers_(watchers) {}

  void Next(Callback<QueueChanges> done) override { watchers_.Next(*this, std::move(done)); }
  void End() override { watchers_.End(*this); }

  bool Sees(const std::string& queue) const {
    return (names_.empty() || names_.contains(queue)) && Ask(*permit_, queue).ok();
  }

  // Under the lock of all:
  const WatchCall call_;
  const absl::flat_hash_set<std::string> names_;
  std::shared_ptr<const Permit> permit_;  // as it was asked last
  SummaryLog::Reader reader_;
  int64_t knows_from_ = 0;       // the first read that began after it
  bool has_names_ = false;       // all of them were there
  bool has_more_ = false;        // to be told
  bool is_refused_ = false;      // its party has too many
  Callback<QueueChanges> done_;  // null: it has not got its last answer yet
  base::SteadyTime told_ = steady_clock::now();

 private:
  Watchers& watchers_;
};

std::shared_ptr<QueueWatcher> Watchers::Add(WatchCall call) {
  auto watcher = std::make_shared<Watcher>(*this, std::move(call));
  bool begins = false;
  {
    base::MutexLock lock(mutex_);
    int& of_party = of_party_[watcher->call_.party];
    if (of_party >= kWatchesOfPartyMax) {
      watcher->is_refused_ = true;
      return watcher;
    }
    ++of_party;
    watcher->knows_from_ = reads_ + 1;
    watchers_.insert(watcher.get());
    begins = !is_stopped_ && !std::exchange(is_reading_, true);
  }
  if (begins) Read();
  return watcher;
}

void Watchers::Next(Watcher& watcher, Callback<QueueChanges> done) {
  Answers answers;
  {
    base::MutexLock lock(mutex_);
    watcher.done_ = std::move(done);
    if (watchers_.contains(&watcher)) {
      Offer(watcher, &answers);
    } else {
      answers.emplace_back(std::exchange(watcher.done_, nullptr),
                           watcher.is_refused_ ? TooManyWatches() : HasEnded());
    }
  }
  for (auto& [told, answer] : answers) told(std::move(answer));
}

void Watchers::End(Watcher& watcher) {
  Callback<QueueChanges> done;
  {
    base::MutexLock lock(mutex_);
    if (watchers_.erase(&watcher) > 0) {
      const auto of_party = of_party_.find(watcher.call_.party);
      if (--of_party->second == 0) of_party_.erase(of_party);
    }
    done = std::exchange(watcher.done_, nullptr);
  }
  if (done != nullptr) done(HasEnded());
}

void Watchers::Stop() {
  Answers answers;
  {
    base::MutexLock lock(mutex_);
    is_stopped_ = true;
    for (Watcher* const watcher : watchers_) Offer(*watcher, &answers);
  }
  for (auto& [told, answer] : answers) told(std::move(answer));
}

void Watchers::Offer(Watcher& watcher, Answers* answers) {
  if (watcher.done_ == nullptr) return;
  auto news = NewsFor(watcher);
  if (!news.has_value()) return;
  answers->emplace_back(std::exchange(watcher.done_, nullptr), *std::move(news));
}

// Unset: it goes on waiting.
std::optional<absl::StatusOr<QueueChanges>> Watchers::NewsFor(Watcher& watcher) {
  if (is_stopped_) return Draining();
  auto permit = watcher.call_.permit_now();
  if (!permit.ok()) return permit.status();
  if (watcher.permit_ != *permit) watcher.reader_.seen = 0;
  watcher.permit_ = *std::move(permit);
  if (!is_known_ || lists_.IsFullFor(watcher.call_.party)) return std::nullopt;
  const std::optional<absl::Status> names = LookForNames(watcher);
  if (!names.has_value()) return std::nullopt;
  RETURN_IF_ERROR(*names);
  const bool is_first = !std::exchange(watcher.has_names_, true);
  QueueChanges changes =
      log_.Next(&watcher.reader_, [&](const std::string& queue) { return watcher.Sees(queue); },
                model::kListBytesMax);
  const base::SteadyTime now = steady_clock::now();
  // The end of a message in parts comes also when nothing is left that the caller may see.
  const bool is_awaited = is_first || watcher.has_more_;
  const bool is_quiet = changes.changed.empty() && changes.removed.empty();
  if (is_quiet && !is_awaited && now - watcher.told_ < kQuietMax) return std::nullopt;
  watcher.has_more_ = changes.has_more;
  watcher.told_ = now;
  changes.memory = lists_.Hold(watcher.call_.party, changes.bytes);
  return changes;
}

std::optional<absl::Status> Watchers::LookForNames(const Watcher& watcher) const {
  if (watcher.has_names_) return absl::OkStatus();
  const std::vector<std::string>& names = watcher.call_.queues;
  for (size_t i = 0; i < names.size(); ++i) {
    if (log_.Has(names[i])) continue;
    if (reads_ < watcher.knows_from_) return std::nullopt;
    return base::BlameField("QUEUE_NOT_FOUND", absl::StrCat("queues[", i, "]"),
                            store::QueueNotFound(names[i]));
  }
  return absl::OkStatus();
}

void Watchers::ForgetTold() {
  int64_t seen_by_all = std::numeric_limits<int64_t>::max();
  for (const Watcher* const watcher : watchers_) {
    seen_by_all = std::min(seen_by_all, watcher->reader_.seen);
  }
  log_.Forget(seen_by_all);
}

void Watchers::Read() {
  {
    base::MutexLock lock(mutex_);
    if (watchers_.empty()) {
      log_ = SummaryLog();
      is_known_ = false;
      is_reading_ = false;
      failing_since_.reset();
      return;
    }
    ++reads_;
  }
  auto read = [this](absl::StatusOr<pg::Session*> session) {
    const base::SteadyTime began = steady_clock::now();
    const absl::Status status =
        session.ok() ? pg::RepeatConflicts([&] { return ReadAll(**session); }) : session.status();
    EndRead(status, began);
  };
  context_.pool.Submit(std::move(read), {"watchers"});
}

absl::Status Watchers::ReadAll(pg::Session& session) {
  {
    base::MutexLock lock(mutex_);
    log_.BeginRead();
  }
  std::string after;
  for (bool has_more = true; has_more;) {
    ASSIGN_OR_RETURN(model::Page<QueueSummary> page, SummarizeNext(session, after, watch_));
    has_more = page.has_more;
    if (has_more) after = page.items.back().counted.queue.name;
    base::MutexLock lock(mutex_);
    log_.Take(std::move(page.items));
  }
  base::MutexLock lock(mutex_);
  log_.EndRead();
  return absl::OkStatus();
}

void Watchers::EndRead(const absl::Status& status, base::SteadyTime began) {
  bool gives_up = false;
  {
    base::MutexLock lock(mutex_);
    is_known_ = status.ok();
    if (status.ok()) failing_since_.reset();
    if (!status.ok() && !failing_since_.has_value()) failing_since_ = began;
    gives_up = failing_since_.has_value() && steady_clock::now() - *failing_since_ >= kPatience;
  }
  TellAll(status, gives_up);
  const auto took = steady_clock::now() - began;
  const auto pause =
      std::max<std::chrono::nanoseconds>(kReadEvery - took, took * (kShare - 1));
  context_.timer.After(pause, [this] { Read(); });
}

// One at a time: who begins or ends to watch does not wait for all of them.
void Watchers::TellAll(const absl::Status& status, bool gives_up) {
  std::vector<Watcher*> all;
  {
    base::MutexLock lock(mutex_);
    all.assign(watchers_.begin(), watchers_.end());
  }
  for (Watcher* const watcher : all) {
    Answers answers;
    {
      base::MutexLock lock(mutex_);
      if (!watchers_.contains(watcher)) continue;
      if (gives_up && watcher->done_ != nullptr) {
        answers.emplace_back(std::exchange(watcher->done_, nullptr), status);
      } else {
        Offer(*watcher, &answers);
      }
    }
    for (auto& [told, answer] : answers) told(std::move(answer));
  }
  base::MutexLock lock(mutex_);
  ForgetTold();
}

}  // namespace skiplane::broker
