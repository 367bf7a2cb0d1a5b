// What can wait for rows waits in one order: docs/adr/2026-11-22-one-lock-order.md.
//
// Deadlocks are counted by PostgreSQL itself. SKIPLANE_LOCK_ROUNDS makes the runs longer.
#include <barrier>
#include <cstdlib>
#include <thread>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "server/base/reason.h"
#include "tests/store/settle/writers.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::testing {
namespace {

constexpr int kSessions = 6;

int Rounds() {
  const char* const given = std::getenv("SKIPLANE_LOCK_ROUNDS");
  int rounds = 1;
  if (given != nullptr) Require(absl::SimpleAtoi(given, &rounds), "SKIPLANE_LOCK_ROUNDS");
  return rounds;
}

class LockOrderTest : public StoreHarness {
 protected:
  // Only a superuser may set deadlock_timeout.
  LockOrderTest() : StoreHarness(User::kSuperuser), writers_(lane_, 1'000'000) {}

  // Soon found, if there are any.
  std::unique_ptr<pg::Session> OpenImpatient() const {
    std::unique_ptr<pg::Session> session = Open();
    Required(session->RunText("SET deadlock_timeout = '20ms'"));
    return session;
  }

  int64_t Deadlocks() {
    return Required(session_->RunText("SELECT deadlocks FROM pg_stat_database "
                                      "WHERE datname = current_database()"))
        .Int(0, 0);
  }

  // Conflicts are repeated by the broker; nothing else may happen.
  static void Run(const Writers::Writer& writer, pg::Session& session, Writers::Random& random) {
    const absl::Status status = writer.run(session, random);
    if (base::ReasonOf(status) == "TRANSACTION_CONFLICT") return;
    EXPECT_THAT(status, IsOk()) << writer.name;
  }

  // Together with another session, each time.
  static void RunSome(const Writers::Writer& writer, pg::Session& session, Writers::Random& random,
                      std::barrier<>& begin) {
    for (int i = 0; i < 3; ++i) {
      begin.arrive_and_wait();
      Run(writer, session, random);
    }
  }

  static void Flush(pg::Session& session) {
    Required(session.RunText("SELECT pg_stat_force_next_flush()"));
    Required(session.RunText("SELECT 1"));
  }

  Writers writers_;
};

TEST_F(LockOrderTest, NoTwoStatementsDeadlock) {
  Writers::Random random(1);
  const auto one = OpenImpatient();
  const auto other = OpenImpatient();
  const std::vector<Writers::Writer> all = writers_.All();
  int64_t before = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i; j < all.size(); ++j) {
      for (int round = 0; round < Rounds(); ++round) {
        writers_.Refill(*session_, random);
        Writers::Random first(random());
        Writers::Random second(random());
        std::barrier begin(2);
        std::thread beside([&] { RunSome(all[j], *other, second, begin); });
        RunSome(all[i], *one, first, begin);
        beside.join();
      }
      Flush(*one);
      Flush(*other);
      const int64_t deadlocks = Deadlocks();
      EXPECT_EQ(deadlocks, before) << all[i].name << " and " << all[j].name;
      before = deadlocks;
    }
  }
}

TEST_F(LockOrderTest, ManyStatementsAtOnceDoNotDeadlock) {
  Writers::Random random(2);
  std::vector<std::unique_ptr<pg::Session>> sessions;
  for (int i = 0; i < kSessions; ++i) sessions.push_back(OpenImpatient());
  const std::vector<Writers::Writer> all = writers_.All();
  for (int round = 0; round < 10 * Rounds(); ++round) {
    writers_.Refill(*session_, random);
    std::vector<std::thread> threads;
    for (const auto& session : sessions) {
      threads.emplace_back([&all, &session, seed = random()] {
        Writers::Random own(seed);
        for (int i = 0; i < 6; ++i) Run(all[own() % all.size()], *session, own);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const auto& session : sessions) Flush(*session);
  EXPECT_EQ(Deadlocks(), 0);
}

}  // namespace
}  // namespace skiplane::testing
