#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "server/store/task_change.h"
#include "tests/store/pack/pack_harness.h"

namespace skiplane::store {
namespace {

using testing::Required;

// Everything that can happen to packed tasks, at random: nothing is lost, doubled or out of order.
class PackRandomTest : public testing::PackHarness {
 protected:
  int Pick(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }

  void Step() {
    switch (Pick(0, 6)) {
      case 0:
        for (const int64_t id : Pack(Pick(16, 150))) alive_.insert(id);
        return;
      case 1:
        for (const int64_t id : Put(Pick(1, 5))) alive_.insert(id);
        return;
      case 2:
      case 3:
        return LeaseSome();
      case 4:
      case 5:
        return SettleSome();
      default:
        return ChangeOne();
    }
  }

  void LeaseSome() {
    const Leased leased = Lease({Pick(1, 90), Pick(1, 40), Pick(1, 90)});
    EXPECT_TRUE(std::is_sorted(leased.rows.begin(), leased.rows.end(),
                               [](const LeasedRow& a, const LeasedRow& b) {
                                 return std::pair(a.task.schedule_time, a.task.token.task.id) <
                                        std::pair(b.task.schedule_time, b.task.token.task.id);
                               }));
    for (const LeasedRow& row : leased.rows) {
      const int64_t id = row.task.token.task.id;
      EXPECT_TRUE(alive_.contains(id)) << id;
      EXPECT_TRUE(held_.emplace(id, row.task.token).second) << id << " was leased";
    }
  }

  void SettleSome() {
    std::vector<model::LeaseToken> tokens;
    const int parts = Pick(1, 4);
    for (const auto& [id, token] : held_) {
      if (Pick(1, parts) == 1) tokens.push_back(token);
    }
    if (tokens.empty()) return;
    const bool acks = Pick(0, 3) > 0;
    const size_t settled = acks ? Ack(tokens) : Settle(tokens, Action::kRelease);
    if (acks && settled < tokens.size()) {  // those that have rows of their own by now
      Settle(tokens, Action::kAck);
    } else {
      EXPECT_EQ(settled, tokens.size());
    }
    for (const model::LeaseToken& token : tokens) {
      held_.erase(token.task.id);
      if (acks) alive_.erase(token.task.id);
    }
  }

  void ChangeOne() {
    if (alive_.empty()) return;
    auto id = alive_.begin();
    std::advance(id, Pick(0, static_cast<int>(alive_.size()) - 1));
    model::TaskChange change;
    change.kind = Pick(0, 1) == 0 ? model::TaskChange::Kind::kRunNow
                                  : model::TaskChange::Kind::kCancel;
    const bool is_held = held_.contains(*id);
    if (is_held && change.kind == model::TaskChange::Kind::kCancel) return;
    Required(ChangeTasks(*session_, TaskTable::kLiving, lane_, {*id}, change,
                         model::QueueSettings()));
    if (change.kind == model::TaskChange::Kind::kCancel) alive_.erase(id);
  }

  std::mt19937_64 random_{20261127};
  std::set<int64_t> alive_;
  std::map<int64_t, model::LeaseToken> held_;
};

TEST_F(PackRandomTest, NothingIsLostOrDoubled) {
  for (int i = 0; i < 300; ++i) Step();
  while (true) {
    const size_t before = held_.size();
    LeaseSome();
    if (held_.size() == before) break;
  }
  EXPECT_EQ(held_.size(), alive_.size());
  std::vector<model::LeaseToken> all;
  for (const auto& [id, token] : held_) all.push_back(token);
  Ack(all);
  Settle(all, Action::kAck);
  EXPECT_EQ(Packs() + InRows(), 0);
}

}  // namespace
}  // namespace skiplane::store
