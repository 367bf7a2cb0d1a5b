// One request id at two brokers at the same instant. SKIPLANE_REQUEST_IDS says how many ids there
// are, if 300 are not enough.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/broker/broker_harness.h"
#include "tests/support/require.h"

namespace skiplane::testing {
namespace {

using Answers = Later<std::vector<broker::EnqueueResult>>;

constexpr int kAtOnce = 50;

int Ids() {
  const char* const given = std::getenv("SKIPLANE_REQUEST_IDS");
  int ids = 300;
  if (given != nullptr) Require(absl::SimpleAtoi(given, &ids), "SKIPLANE_REQUEST_IDS");
  return ids;
}

// One task, three, or two of which one has a key.
std::vector<model::NewTask> TasksOf(int call) {
  std::vector<model::NewTask> tasks(1 + static_cast<size_t>(call % 3), Payload("p"));
  if (call % 3 == 1) tasks[1].key = absl::StrCat("key-", call);
  return tasks;
}

class SameInstantTest : public BrokerHarness {
 protected:
  // Sends calls from `first` on to both brokers, and notes which tasks they were told of.
  void SendSome(int first, int calls, broker::LocalBroker& other) {
    std::vector<Answers> answers(2 * static_cast<size_t>(calls));
    for (int i = 0; i < calls; ++i) {
      const int call = first + i;
      const std::string id = absl::StrCat("call-", call);
      for (size_t which = 0; which < 2; ++which) {
        broker::LocalBroker& one = (which + static_cast<size_t>(call)) % 2 == 0 ? broker() : other;
        one.Enqueue({"q", TasksOf(call), id}, answers[2 * static_cast<size_t>(i) + which].done());
      }
    }
    for (size_t i = 0; i < answers.size(); i += 2) {
      const auto one = Required(answers[i].Get());
      const auto other_one = Required(answers[i + 1].Get());
      ASSERT_EQ(one.size(), TasksOf(first + static_cast<int>(i / 2)).size());
      ASSERT_EQ(other_one.size(), one.size());
      for (size_t task = 0; task < one.size(); ++task) {
        EXPECT_EQ(one[task].id, other_one[task].id);
        EXPECT_EQ(one[task].outcome, other_one[task].outcome);
        EXPECT_TRUE(told_.insert(one[task].id.id).second) << "two calls made one task";
      }
    }
  }

  std::set<int64_t> told_;
};

TEST_F(SameInstantTest, MakesOneSetOfTasksAndGivesOneAnswer) {
  const auto other = NewBroker();
  const int ids = Ids();
  size_t tasks = 0;
  for (int first = 0; first < ids; first += kAtOnce) {
    const int calls = std::min(kAtOnce, ids - first);
    SendSome(first, calls, *other);
    for (int i = 0; i < calls; ++i) tasks += TasksOf(first + i).size();
  }
  EXPECT_EQ(told_.size(), tasks);
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.task"), static_cast<int64_t>(tasks));
  EXPECT_EQ(Number("SELECT count(*) FROM skiplane.answered_request"), ids);
}

}  // namespace
}  // namespace skiplane::testing
