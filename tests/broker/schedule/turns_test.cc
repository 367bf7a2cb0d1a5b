#include "server/broker/schedule/turns.h"

#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

// Callers are named by principal, worker and call, as "a1x"; "a x" names no worker.
class TurnsTest : public ::testing::Test {
 protected:
  void Come(const std::string& name, int64_t room = 1) {
    auto ticket = std::make_shared<Ticket>();
    ticket->call.principal = name.substr(0, 1);
    if (name[1] != ' ') ticket->call.worker_id = name.substr(1, 1);
    ticket->call.worker_name = name;
    ticket->call.max_tasks = static_cast<int>(room);
    ticket->keys = TurnKeysOf(ticket->call);
    turns_.Add(ticket, 0, &ticket->entries.emplace_back());
    tickets_[name] = ticket;
  }
  void Leave(const std::string& name) { turns_.Remove(tickets_.at(name)->entries.front()); }

  // Whose turns they are, and with how many tasks if not with one.
  std::string Deal(int64_t count, int64_t turn_max = 1) {
    dealt_ = turns_.Deal(count, turn_max, [this](const Ticket::Place& place) -> int64_t {
      const LeaseCall& call = place.ticket->call;
      return call.worker_name == unable_ ? 0 : call.max_tasks;
    });
    std::vector<std::string> names;
    for (const Turn& turn : dealt_.turns) {
      const auto caller = static_cast<size_t>(turn.caller);
      names.push_back(dealt_.callers[caller]->call.worker_name);
    }
    return absl::StrJoin(names, " ");
  }
  // Only the first so many of those turns brought a task.
  void EndAfter(size_t turns) {
    std::vector<int64_t> got(dealt_.callers.size());
    for (size_t i = 0; i < turns; ++i) ++got[static_cast<size_t>(dealt_.turns[i].caller)];
    turns_.GiveBack(dealt_.turns, got);
  }

  Turns turns_;
  Dealt dealt_;
  std::string unable_;
  std::map<std::string, TicketPtr> tickets_;
};

TEST_F(TurnsTest, PrincipalsHaveTurnsAndWithinThemWorkersAndWithinThemCalls) {
  for (const char* name : {"a1x", "a1y", "a2x", "a1z", "b1x", "b1y"}) Come(name);
  EXPECT_EQ(Deal(10), "a1x b1x a2x b1y a1y a1z");
}

TEST_F(TurnsTest, TheyGoOnWhereTheyWere) {
  for (const char* name : {"a1x", "a2x", "b1x", "c1x"}) Come(name, 9);
  EXPECT_EQ(Deal(2), "a1x b1x");
  EXPECT_EQ(Deal(2), "c1x a2x");
  EXPECT_EQ(Deal(4), "b1x c1x a1x b1x");
}

TEST_F(TurnsTest, CallsOfAWorkerAreDealtOneTaskEachAndThenMore) {
  Come("a1x", 3);
  Come("a1y", 1);
  Come("a1z", 2);
  EXPECT_EQ(Deal(10), "a1x a1y a1z a1x a1z a1x");
}

TEST_F(TurnsTest, CallsWithoutAWorkerAreOneWorker) {
  for (const char* name : {"a x", "a y", "a1x"}) Come(name);
  EXPECT_EQ(Deal(10), "a x a1x a y");
}

TEST_F(TurnsTest, TheSameNameOfTwoPrincipalsIsTwoWorkers) {
  for (const char* name : {"a1x", "a2x", "b1x", "b2x"}) Come(name);
  EXPECT_EQ(Deal(10), "a1x b1x a2x b2x");
}

TEST_F(TurnsTest, WhoComesWaitsForOneTurnOfEachOther) {
  for (const char* name : {"a1x", "a1y", "a1z", "b1x"}) Come(name);
  EXPECT_EQ(Deal(1), "a1x");
  Come("c1x");
  unable_ = "a1x";
  EXPECT_EQ(Deal(9), "b1x a1y c1x a1z");
}

TEST_F(TurnsTest, WhoComesAgainHasNothingSavedUp) {
  for (const char* name : {"a1x", "b1x"}) Come(name, 9);
  Leave("a1x");
  Come("a1x", 9);
  EXPECT_EQ(Deal(3), "b1x a1x b1x");
}

TEST_F(TurnsTest, WhoCannotTakeATurnKeepsIt) {
  for (const char* name : {"a1x", "b1x", "c1x"}) Come(name, 9);
  unable_ = "a1x";
  EXPECT_EQ(Deal(2), "b1x c1x");
  unable_ = "";
  EXPECT_EQ(Deal(2), "a1x b1x");
}

TEST_F(TurnsTest, ATurnThatBroughtNothingIsGivenBack) {
  for (const char* name : {"a1x", "a2x", "b1x", "c1x"}) Come(name, 9);
  EXPECT_EQ(Deal(6), "a1x b1x c1x a2x b1x c1x");
  EndAfter(2);
  EXPECT_EQ(Deal(3), "c1x a2x b1x");
}

TEST_F(TurnsTest, UnlessItsOwnerHadAnotherOneSince) {
  for (const char* name : {"a1x", "b1x"}) Come(name, 9);
  EXPECT_EQ(Deal(1), "a1x");
  const Dealt first = dealt_;
  EXPECT_EQ(Deal(2), "b1x a1x");
  turns_.GiveBack(first.turns, {0});
  EXPECT_EQ(Deal(2), "b1x a1x");
}

TEST_F(TurnsTest, ATurnMayBringSeveralTasks) {
  Come("a1x", 250);
  Come("b1x", 30);
  Come("b1y", 5);
  EXPECT_EQ(Deal(300, 100), "a1x b1x a1x b1y a1x");
  EXPECT_EQ(dealt_.counts, (std::vector<int64_t>{250, 30, 5}));
  EXPECT_EQ(Deal(120, 100), "b1x a1x");
  EXPECT_EQ(dealt_.counts, (std::vector<int64_t>{30, 90}));
}

TEST_F(TurnsTest, NothingIsLeftOfThoseWhoAreGone) {
  for (const char* name : {"a1x", "a2x", "a1y", "b1x"}) Come(name);
  EXPECT_EQ(turns_.size(), 4);
  EXPECT_TRUE(turns_.HasSeveralPrincipals());
  for (const char* name : {"a1x", "b1x", "a1y"}) Leave(name);
  EXPECT_FALSE(turns_.HasSeveralPrincipals());
  EXPECT_EQ(Deal(9), "a2x");
  Leave("a2x");
  EXPECT_TRUE(turns_.empty());
  EXPECT_EQ(Deal(9), "");
}

}  // namespace
}  // namespace skiplane::broker
