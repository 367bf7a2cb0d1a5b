#include "tests/store/pack/race_claimer.h"

#include <algorithm>
#include <thread>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/base/status_macros.h"
#include "server/pg/conflicts.h"
#include "server/pg/transaction.h"
#include "server/store/sessions.h"
#include "tests/support/require.h"
#include "tests/support/status_matchers.h"

namespace skiplane::testing {
namespace {

using store::Action;
using Tokens = RaceLog::Tokens;

constexpr int kHeldMax = 300;
constexpr int kEmptyLeasesMax = 20;
constexpr int kRoundsMax = 5;

store::SettleBatch BatchOf(int64_t lane, const Tokens& tokens, Action action) {
  store::SettleBatch batch;
  batch.lane = lane;
  for (const model::LeaseToken& token : tokens) {
    batch.rows.emplace_back().token = token;
    batch.rows.back().action = action;
  }
  return batch;
}

// What one settlement says of its tokens.
struct Answer {
  std::vector<std::pair<size_t, Action>> settled;
};

absl::StatusOr<Answer> AckByLocation(pg::Session& session, const store::SettleBatch& batch) {
  Answer answer;
  ASSIGN_OR_RETURN(const auto acked, store::AckByLocation(session, batch));
  for (const size_t index : acked) answer.settled.emplace_back(index, Action::kAck);
  return answer;
}

absl::StatusOr<Answer> SettleById(pg::Session& session, const store::SettleBatch& batch) {
  Answer answer;
  ASSIGN_OR_RETURN(const auto settled, store::Settle(session, batch));
  for (const auto& row : settled) answer.settled.emplace_back(row.index, row.outcome);
  return answer;
}

absl::StatusOr<Answer> SettleLocked(pg::Session& session, const store::SettleBatch& batch) {
  return pg::InTransaction(session, [&]() -> absl::StatusOr<Answer> {
    std::vector<int64_t> ids;
    for (const store::SettleRow& row : batch.rows) ids.push_back(row.token.task.id);
    RETURN_IF_ERROR(store::LockTasks(session, batch.lane, ids));
    return SettleById(session, batch);
  });
}

// Returns the tokens that were not settled.
template <typename Statement>
Tokens Settled(Race& race, pg::Session& session, const Tokens& tokens, Action action,
               const Statement& statement) {
  if (tokens.empty()) return {};
  std::vector<bool> were_over;
  for (const model::LeaseToken& token : tokens) were_over.push_back(race.log.IsOver(token));
  const store::SettleBatch batch = BatchOf(race.lane, tokens, action);
  const auto answer = pg::RepeatConflicts([&] { return statement(session, batch); });
  EXPECT_THAT(answer, IsOk());
  if (!answer.ok()) return tokens;
  std::vector<bool> is_settled(tokens.size());
  for (const auto& [index, outcome] : answer->settled) {
    race.log.Settled(tokens[index], outcome, were_over[index]);
    is_settled[index] = true;
  }
  Tokens open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!is_settled[i]) open.push_back(tokens[i]);
  }
  return open;
}

void ExpectItsOwn(const model::LeasedTask& task) {
  const int64_t id = task.token.task.id;
  const model::NewTask own = RaceTask(id, !task.content_type.empty(), 0);
  EXPECT_EQ(task.payload, own.payload) << id;
  EXPECT_EQ(task.content_type, own.content_type) << id;
  EXPECT_EQ(task.headers, own.headers) << id;
}

}  // namespace

void Pacer::LeaseEnded() {
  base::MutexLock lock(mutex_);
  ++leases_;
  changed_.NotifyAll();
}

void Pacer::SettlementBegins() {
  base::MutexLock lock(mutex_);
  ++settling_;
  changed_.NotifyAll();
}

void Pacer::SettlementEnded() {
  base::MutexLock lock(mutex_);
  --settling_;
}

void Pacer::ClaimerEnded() {
  base::MutexLock lock(mutex_);
  --claimers_;
  changed_.NotifyAll();
}

void Pacer::AwaitLeases(int64_t count) {
  base::MutexLock lock(mutex_);
  const int64_t until = leases_ + count;
  while (leases_ < until && settling_ < claimers_) changed_.Wait(mutex_);
}

model::NewTask RaceTask(int64_t id, bool is_typed, int16_t priority) {
  model::NewTask task;
  task.payload = absl::StrCat(is_typed ? "typed " : "plain ", id);
  task.priority = priority;
  if (!is_typed) return task;
  task.content_type = absl::StrCat("type/", id);
  if (id % 3 == 0) task.headers = {{"id", absl::StrCat(id)}};
  return task;
}

Tokens SettleRaced(Race& race, pg::Session& session, Tokens tokens, Action action) {
  std::ranges::sort(tokens, {}, [](const auto& token) {
    return std::pair(token.task.id, token.lease_number);
  });
  if (action == Action::kAck) {
    Tokens rows = tokens;
    const auto is_packed = [](const auto& token) { return token.IsPacked(); };
    const auto packed_from = std::ranges::stable_partition(rows, std::not_fn(is_packed)).begin();
    const Tokens packed(packed_from, rows.end());
    rows.erase(packed_from, rows.end());
    tokens = Settled(race, session, packed, action, AckByLocation);
    std::ranges::copy(Settled(race, session, rows, action, AckByLocation),
                      std::back_inserter(tokens));
    std::ranges::sort(tokens, {}, [](const auto& token) { return token.task.id; });
  }
  Tokens over;
  for (int round = 0; round < kRoundsMax && !tokens.empty(); ++round) {
    tokens = Settled(race, session, tokens, action, round == 0 ? SettleById : SettleLocked);
    if (tokens.empty()) break;
    const auto statuses = store::Classify(session, race.lane, tokens);
    EXPECT_THAT(statuses, IsOk());
    if (!statuses.ok()) return over;
    Tokens held;
    for (size_t i = 0; i < tokens.size(); ++i) {
      ((*statuses)[i].is_held ? held : over).push_back(tokens[i]);
    }
    tokens = std::move(held);
  }
  EXPECT_TRUE(tokens.empty()) << tokens.size() << " are held and cannot be settled";
  return over;
}

std::vector<store::LeasedRow> LeaseRaced(Race& race, pg::Session& session,
                                         const store::LeaseDemand& demand, bool is_late) {
  const absl::StatusOr<store::Leased> leased =
      !is_late ? store::Lease(session, demand) : pg::InTransaction(session, [&] {
        auto answer = store::Lease(session, demand);
        race.pacer.SettlementBegins();  // as others may wait for it
        if (answer.ok()) race.pacer.AwaitLeases(1);
        race.pacer.SettlementEnded();
        return answer;
      });
  EXPECT_THAT(leased, IsOk()) << "a lease waits for nobody";
  race.pacer.LeaseEnded();
  if (!leased.ok()) return {};
  std::map<int, int64_t> got;
  int last = 0;
  for (const store::LeasedRow& row : leased->rows) {
    race.log.Leased(row.task.token);
    ExpectItsOwn(row.task);
    ++got[row.caller];
    EXPECT_TRUE(row.caller >= last || !demand.has_packs) << "they get neighbours";
    last = row.caller;
  }
  for (const auto& [caller, count] : got) {
    EXPECT_LE(count, std::ranges::count(demand.slots, caller + 1));
  }
  return leased->rows;
}

Claimer::Claimer(Race& race, std::unique_ptr<pg::Session> session,
                 std::unique_ptr<pg::Session> beside, int number, uint64_t seed)
    : race_(race),
      session_(std::move(session)),
      beside_(std::move(beside)),
      number_(number),
      random_(seed) {}

bool Claimer::IsAtEnd() {
  if (::testing::Test::HasFailure()) return true;
  {
    base::MutexLock lock(race_.mutex);
    if (race_.enqueuers > 0) return false;
  }
  return empty_leases_ >= kEmptyLeasesMax ||
         static_cast<int64_t>(race_.log.Living().size()) <= race_.rest;
}

void Claimer::Run() {
  BeBorn();
  while (!IsAtEnd()) {
    if (held_.size() < kHeldMax) LeaseSome();
    race_.pacer.SettlementBegins();
    SettleSome();
    if (Pick(0, 15) == 0) Haunt();
    race_.pacer.SettlementEnded();
    if (Pick(0, 20) == 0) Die();
  }
  Die();
  race_.pacer.ClaimerEnded();
  base::MutexLock lock(race_.mutex);
  --race_.claimers;
  race_.has_dead.NotifyAll();
}

void Claimer::BeBorn() {
  workers_.clear();
  sessions_.clear();
  std::vector<store::Touch> touches;
  ++lives_;
  for (int i = 0; i < 3; ++i) {
    workers_.push_back(absl::StrCat("claimer-", number_, "-", lives_, "-", i));
    sessions_.push_back(model::NewSessionId());
    touches.push_back({workers_.back(), "", sessions_.back(), absl::Hours(1), absl::Hours(1)});
  }
  const auto living =
      pg::RepeatConflicts([&] { return store::TouchSessions(*session_, touches); });
  EXPECT_THAT(living, IsOk());
}

void Claimer::LeaseSome() {
  store::LeaseDemand demand;
  demand.lane = race_.lane;
  demand.has_packs = Pick(0, 9) > 0;
  demand.bounds = {{0}, {1}, {2}};
  const int callers = Pick(1, 3);
  const bool has_little_room = Pick(0, 7) == 0;
  for (int i = 0; i < callers; ++i) {
    demand.slots.insert(demand.slots.end(), static_cast<size_t>(Pick(1, 60)), i + 1);
    const int64_t bytes = has_little_room ? Pick(10, 300) : 1 << 20;
    const pg::Uuid& session = sessions_[static_cast<size_t>(Pick(0, 2))];
    demand.callers.push_back({session, bytes, model::NewSessionId(), "", Pick(0, 1) == 0});
  }
  if (Pick(0, 1) == 0) std::ranges::shuffle(demand.slots, random_);
  const std::vector<store::LeasedRow> rows = LeaseRaced(race_, *session_, demand, Pick(0, 3) == 0);
  for (const store::LeasedRow& row : rows) held_[row.task.token.task.id] = row.task.token;
  empty_leases_ = rows.empty() ? empty_leases_ + 1 : 0;
}

Action Claimer::PickAction() {
  constexpr Action kActions[] = {Action::kAck, Action::kAck, Action::kAck,
                                 Action::kAck, Action::kRetry, Action::kRelease};
  return kActions[Pick(0, 5)];
}

// As its workers would, each for itself, and now and then one repeats what it does not know to be
// done.
void Claimer::SettleSome() {
  const int parts = Pick(1, 4);
  Tokens own;
  for (const auto& [id, token] : held_) {
    if (Pick(1, parts) == 1) own.push_back(token);
  }
  Tokens sent, sent_beside;
  for (const model::LeaseToken& token : own) {
    const int where = parts == 1 ? 0 : Pick(0, 20);
    if (where <= 10) sent.push_back(token);
    if (where >= 10) sent_beside.push_back(token);
  }
  if (Pick(0, 2) == 0) std::ranges::copy(ForgedFrom(own), std::back_inserter(sent));
  const size_t too_many = sent.size() + sent_beside.size() - own.size();
  const Action action = PickAction();
  const Action action_beside = PickAction();
  Tokens over_beside;
  std::thread worker([&] {
    over_beside = SettleRaced(race_, *beside_, std::move(sent_beside), action_beside);
  });
  const Tokens over = SettleRaced(race_, *session_, std::move(sent), action);
  worker.join();
  EXPECT_EQ(over.size() + over_beside.size(), too_many) << "who lives keeps its leases";
  for (const model::LeaseToken& token : own) {
    held_.erase(token.task.id);
    if (Pick(0, 9) == 0) settled_.push_back(token);
  }
}

// Some that nobody was given, and some that are over. A broker passes on each lease once.
Tokens Claimer::ForgedFrom(const Tokens& tokens) {
  absl::flat_hash_set<std::pair<int64_t, int64_t>> leases;
  for (const model::LeaseToken& token : tokens) leases.emplace(token.task.id, token.lease_number);
  Tokens forged;
  const auto add = [&](const model::LeaseToken& token) {
    if (!leases.emplace(token.task.id, token.lease_number).second) return;
    if (race_.log.IsLease(token) && !race_.log.IsOver(token)) return;
    forged.push_back(token);
  };
  for (const auto& [id, token] : held_) {
    if (Pick(0, 14) == 0) add(Forged(token));
  }
  for (const model::LeaseToken& token : settled_) {
    if (Pick(0, 3) == 0) add(token);
  }
  return forged;
}

model::LeaseToken Claimer::Forged(model::LeaseToken token) {
  switch (Pick(0, 12)) {
    case 0:
    case 1:  // another caller's, most likely
      token.session = sessions_[static_cast<size_t>(Pick(0, 2))];
      return token;
    case 2:
      token.session = model::NewSessionId();
      return token;
    case 3:
    case 4:
    case 5:
    case 6:
      token.lease_number += Pick(0, 1) == 0 ? 1 : -1;
      return token;
    case 7: {  // what is known of a task that waits
      const std::vector<int64_t> waiting = race_.log.Waiting();
      if (!waiting.empty()) token.task.id = waiting[random_() % waiting.size()];
      if (Pick(0, 1) == 0) token.lease_number = 0;
      return token;
    }
    default: {  // of the same pack, if it was in one
      const int by = Pick(0, 1) == 0 ? 1 : -1;
      token.task.id += by;
      if (token.IsPacked()) token.offset = static_cast<uint16_t>((token.offset + by) & 63);
      return token;
    }
  }
}

// What it holds is taken back; what it has said by then, or says later, may come too late.
void Claimer::Die() {
  Tokens left;
  for (const auto& [id, token] : held_) left.push_back(token);
  held_.clear();
  {
    base::MutexLock lock(race_.mutex);
    race_.dead.push_back({workers_, sessions_, Pick(0, 1) == 0});
    race_.zombies.push_back(std::move(left));
    race_.has_dead.NotifyAll();
  }
  BeBorn();
}

void Claimer::Haunt() {
  Tokens tokens;
  {
    base::MutexLock lock(race_.mutex);
    if (race_.zombies.empty()) return;
    const size_t which = random_() % race_.zombies.size();
    tokens = race_.zombies[which];
    if (Pick(0, 2) == 0) race_.zombies.erase(race_.zombies.begin() + static_cast<int>(which));
  }
  std::erase_if(tokens, [this](const auto&) { return Pick(0, 1) == 0; });
  SettleRaced(race_, *session_, std::move(tokens), Pick(0, 4) == 0 ? Action::kRetry : Action::kAck);
}

}  // namespace skiplane::testing
