#include "tests/store/pack/race_log.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace skiplane::testing {
namespace {

using store::Action;

// Where the task was when it was leased proves nothing, and is left out.
bool IsSame(const model::LeaseToken& a, const model::LeaseToken& b) {
  return a.task.id == b.task.id && a.lease_number == b.lease_number && a.session == b.session;
}

bool Has(const RaceLog::Tokens& tokens, const model::LeaseToken& token) {
  return std::ranges::any_of(tokens, [&](const auto& one) { return IsSame(one, token); });
}

std::string NameOf(const model::LeaseToken& token) {
  return absl::StrCat("task ", token.task.id, ", lease ", token.lease_number);
}

}  // namespace

const model::LeaseToken* RaceLog::Life::Last() const {
  const auto last = std::ranges::max_element(leases, {}, &model::LeaseToken::lease_number);
  return last == leases.end() ? nullptr : &*last;
}

void RaceLog::Made(const absl::flat_hash_set<int64_t>& ids) {
  base::MutexLock lock(mutex_);
  for (const int64_t id : ids) lives_[id].is_made = true;
}

void RaceLog::Leased(const model::LeaseToken& token) {
  base::MutexLock lock(mutex_);
  Tokens& leases = lives_[token.task.id].leases;
  const bool is_new = std::ranges::none_of(
      leases, [&](const auto& one) { return one.lease_number == token.lease_number; });
  EXPECT_TRUE(is_new) << NameOf(token) << " was given out twice";
  leases.push_back(token);
  last_leased_ = token.task.id;
}

void RaceLog::Settled(const model::LeaseToken& token, Action outcome, bool was_over) {
  EXPECT_FALSE(was_over) << NameOf(token) << " was over, and was settled";
  base::MutexLock lock(mutex_);
  ++counts_[outcome];
  Life& life = lives_[token.task.id];
  EXPECT_TRUE(Has(life.leases, token)) << NameOf(token) << " is forged, and was settled";
  if (outcome == Action::kAck || outcome == Action::kCancel) {
    life.ends.push_back({outcome, true, token});
  } else {
    EXPECT_FALSE(Has(life.returned, token)) << NameOf(token) << " came back twice";
    life.returned.push_back(token);
  }
}

void RaceLog::Reclaimed(const store::Reclaimed& reclaimed, Action as) {
  base::MutexLock lock(mutex_);
  EXPECT_EQ(reclaimed.failed, 0);
  taken_back_ += reclaimed.freed;
  counts_[as] += reclaimed.freed;
  counts_[Action::kCancel] += reclaimed.cancelled;
  for (const int64_t id : reclaimed.ended) lives_[id].ends.push_back({Action::kCancel, true, {}});
}

void RaceLog::Cancelled(std::span<const int64_t> ids) {
  base::MutexLock lock(mutex_);
  counts_[Action::kCancel] += static_cast<int64_t>(ids.size());
  for (const int64_t id : ids) lives_[id].ends.push_back({Action::kCancel, false, {}});
}

bool RaceLog::IsLease(const model::LeaseToken& token) {
  base::MutexLock lock(mutex_);
  const auto life = lives_.find(token.task.id);
  return life != lives_.end() && Has(life->second.leases, token);
}

bool RaceLog::IsOver(const model::LeaseToken& token) {
  base::MutexLock lock(mutex_);
  const auto found = lives_.find(token.task.id);
  if (found == lives_.end()) return false;
  const Life& life = found->second;
  return !life.ends.empty() || Has(life.returned, token) ||
         (life.Last() != nullptr && life.Last()->lease_number > token.lease_number);
}

bool RaceLog::Holds(const Life& life) const { return life.leases.size() > life.returned.size(); }

std::vector<int64_t> RaceLog::Living() {
  base::MutexLock lock(mutex_);
  std::vector<int64_t> ids;
  for (const auto& [id, life] : lives_) {
    if (life.is_made && life.ends.empty()) ids.push_back(id);
  }
  return ids;
}

std::vector<int64_t> RaceLog::Waiting() {
  base::MutexLock lock(mutex_);
  std::vector<int64_t> ids;
  for (const auto& [id, life] : lives_) {
    if (life.is_made && life.ends.empty() && !Holds(life)) ids.push_back(id);
  }
  return ids;
}

int64_t RaceLog::LastLeased() {
  base::MutexLock lock(mutex_);
  return last_leased_;
}

void RaceLog::ExpectOneEnd(int64_t id, const Life& life) const {
  EXPECT_TRUE(life.is_made) << "task " << id << " was never enqueued";
  ASSERT_EQ(life.ends.size(), 1u) << "task " << id;
  const End& end = life.ends.front();
  ASSERT_FALSE(end.is_attempts && life.leases.empty()) << "task " << id;
  if (end.outcome != Action::kAck) return;
  EXPECT_TRUE(IsSame(end.token, *life.Last()))
      << NameOf(end.token) << " was acked, but was not the last lease";
}

void RaceLog::ExpectEachTaskEndedOnce() {
  base::MutexLock lock(mutex_);
  int64_t taken_back = 0;
  for (const auto& [id, life] : lives_) {
    ExpectOneEnd(id, life);
    const auto ended = static_cast<size_t>(
        std::ranges::count_if(life.ends, [](const End& end) { return end.is_attempts; }));
    EXPECT_GE(life.leases.size(), life.returned.size() + ended) << "task " << id;
    taken_back += static_cast<int64_t>(life.leases.size() - life.returned.size() - ended);
  }
  EXPECT_EQ(taken_back, taken_back_) << "leases that nobody settled or gave back";
}

std::string RaceLog::History() {
  base::MutexLock lock(mutex_);
  std::string lines;
  for (const auto& [id, life] : lives_) {
    for (const End& end : life.ends) {
      std::string session;
      if (end.is_attempts && life.Last() != nullptr) {
        const model::SessionId& bytes = life.Last()->session;
        session = absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()),
                                          bytes.size()});
      }
      absl::StrAppend(&lines, id, " ", static_cast<int>(end.outcome), " ", session, "\n");
    }
  }
  return lines;
}

int64_t RaceLog::Count(Action outcome) {
  base::MutexLock lock(mutex_);
  return counts_[outcome];
}

int64_t RaceLog::MadeCount() {
  base::MutexLock lock(mutex_);
  return std::ranges::count_if(lives_, [](const auto& one) { return one.second.is_made; });
}

}  // namespace skiplane::testing
