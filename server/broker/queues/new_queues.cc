#include "server/broker/queues/new_queues.h"

#include "absl/strings/str_cat.h"
#include "server/base/rare_event.h"
#include "server/base/reason.h"

namespace skiplane::broker {
namespace {

constexpr size_t kForgetAbove = 1000;

absl::Status TooMany(absl::string_view who, absl::Duration delay) {
  return base::WithRetryDelay(
      base::Refuse(absl::StatusCode::kResourceExhausted, "TOO_MANY_NEW_QUEUES",
                   absl::StrCat(who, "; the queue does not exist: retry later, or use fewer "
                                     "queues, with lanes or priorities")),
      delay);
}

void LogLimited(const std::string& principal) {
  static constinit base::RareEvent limited("new_queues_limited");
  if (limited.Wanted()) limited.Write(base::LogLevel::kWarn, {{"principal", principal}});
}

}  // namespace

base::TokenBucket& NewQueues::BucketOf(const std::string& principal, base::SteadyTime now) {
  if (by_principal_.size() >= kForgetAbove) {
    absl::erase_if(by_principal_, [now](auto& entry) { return entry.second.IsFull(now); });
  }
  return by_principal_.try_emplace(principal, RateOf(limits_.OfPrincipal()), now).first->second;
}

absl::Status NewQueues::Take(const std::string& principal, base::SteadyTime now) {
  base::MutexLock lock(mutex_);
  if (!principal.empty() && limits_.principal_share < 100) {
    const absl::Duration delay = BucketOf(principal, now).Take(1, now);
    if (delay > absl::ZeroDuration()) {
      LogLimited(principal);
      return TooMany(absl::StrCat("`", principal, "` has made as many queues in a minute at this ",
                                  "broker as one principal may, ", limits_.principal_share,
                                  " % of ", limits_.per_minute,
                                  " (--principal-share, --max-new-queues-per-minute)"),
                     delay);
    }
  }
  const absl::Duration delay = all_.Take(1, now);
  if (delay == absl::ZeroDuration()) return absl::OkStatus();
  if (const auto found = by_principal_.find(principal); found != by_principal_.end()) {
    found->second.GiveBack(1);
  }
  LogLimited("");
  return TooMany(absl::StrCat("as many queues were made in a minute at this broker as may be, ",
                              limits_.per_minute, " (--max-new-queues-per-minute)"),
                 delay);
}

void NewQueues::GiveBack(const std::string& principal) {
  base::MutexLock lock(mutex_);
  all_.GiveBack(1);
  const auto found = by_principal_.find(principal);
  if (found != by_principal_.end()) found->second.GiveBack(1);
}

}  // namespace skiplane::broker
