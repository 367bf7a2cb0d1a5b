#include "server/broker/settle/settle_call.h"

#include <future>

#include "gtest/gtest.h"

namespace skiplane::broker {
namespace {

// The answer is given without the call's lock: what the caller does with it is its own affair, from
// whatever thread.
void ExpectFreeIn(const absl::Status& part_status) {
  auto call = std::make_shared<SettleCall>();
  call->items.resize(2);
  call->open_parts = 1;
  std::future<void> locked;
  bool is_free = false;
  call->done = [&](const absl::StatusOr<std::vector<model::SettleResult>>& results) {
    EXPECT_EQ(results.ok(), part_status.ok());
    locked = std::async(std::launch::async, [call] { base::MutexLock lock(call->mutex); });
    is_free = locked.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  };
  call->EndPart(part_status);
  EXPECT_TRUE(is_free);
  call->done = nullptr;  // it holds the call
}

TEST(SettleCallTest, ItsResultsAreGivenWithoutItsLock) { ExpectFreeIn(absl::OkStatus()); }

TEST(SettleCallTest, ItsFailureIsGivenWithoutItsLock) { ExpectFreeIn(absl::UnknownError("x")); }

TEST(SettleCallTest, TheLastPartAnswersWithTheFirstFailure) {
  SettleCall call;
  call.open_parts = 3;
  std::vector<absl::Status> answers;
  call.done = [&](const absl::StatusOr<std::vector<model::SettleResult>>& results) {
    answers.push_back(results.status());
  };
  call.EndPart(absl::OkStatus());
  call.EndPart(absl::AbortedError("first"));
  EXPECT_TRUE(answers.empty());
  call.EndPart(absl::UnknownError("second"));
  EXPECT_EQ(answers, std::vector<absl::Status>{absl::AbortedError("first")});
}

}  // namespace
}  // namespace skiplane::broker
