#include "server/base/reason.h"

#include "gtest/gtest.h"

namespace skiplane::base {
namespace {

TEST(ReasonTest, ARefusalCarriesCodeReasonAndMessage) {
  const absl::Status status = Refuse(absl::StatusCode::kAborted, "ETAG_MISMATCH", "read it again");
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(), "read it again");
  EXPECT_EQ(ReasonOf(status), "ETAG_MISMATCH");
  EXPECT_EQ(FieldOf(status), "");
}

TEST(ReasonTest, AnInvalidFieldNamesTheFieldInTheMessageToo) {
  const absl::Status status = InvalidField("tasks[3].priority", "must be small");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "tasks[3].priority: must be small");
  EXPECT_EQ(ReasonOf(status), "INVALID_FIELD");
  EXPECT_EQ(FieldOf(status), "tasks[3].priority");
}

TEST(ReasonTest, OtherRefusalsMayBlameAFieldToo) {
  const absl::Status status = RefuseField(absl::StatusCode::kAlreadyExists, "KEY_EXISTS",
                                          "tasks[3].key", "is held");
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "tasks[3].key: is held");
  EXPECT_EQ(ReasonOf(status), "KEY_EXISTS");
  EXPECT_EQ(FieldOf(status), "tasks[3].key");
  EXPECT_EQ(FieldOf(PrefixField("items[1].enqueue.", status)), "items[1].enqueue.tasks[3].key");
}

TEST(ReasonTest, AStatusOfOthersHasNoReason) {
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), "");
  EXPECT_EQ(FieldOf(absl::InternalError("x")), "");
  EXPECT_EQ(ReasonOf(absl::OkStatus()), "");
}

TEST(ReasonTest, AHintWhenToRepeatStaysWithARefusal) {
  const absl::Status plain = RefuseField(absl::StatusCode::kResourceExhausted, "FULL", "a", "no");
  EXPECT_EQ(RetryDelayOf(plain), std::nullopt);
  const absl::Status hinted = WithRetryDelay(plain, absl::Milliseconds(1500));
  EXPECT_EQ(RetryDelayOf(hinted), absl::Milliseconds(1500));
  EXPECT_EQ(ReasonOf(hinted), "FULL");
  EXPECT_EQ(RetryDelayOf(PrefixField("x.", hinted)), absl::Milliseconds(1500));
  const absl::Status blamed = BlameField(
      "FULL", "queue",
      WithRetryDelay(Refuse(absl::StatusCode::kResourceExhausted, "FULL", "no"), absl::Seconds(2)));
  EXPECT_EQ(FieldOf(blamed), "queue");
  EXPECT_EQ(RetryDelayOf(blamed), absl::Seconds(2));
}

TEST(ReasonTest, APrefixChangesTheFieldOnly) {
  const absl::Status plain = PrefixField("a.", InvalidField("b", "is wrong"));
  EXPECT_EQ(plain.message(), "a.b: is wrong");
  EXPECT_EQ(FieldOf(plain), "a.b");
  EXPECT_EQ(ReasonOf(plain), "INVALID_FIELD");
  absl::Status token =
      Refuse(absl::StatusCode::kInvalidArgument, "INVALID_LEASE_TOKEN", "no token");
  EXPECT_EQ(PrefixField("a.", token), token);
  EXPECT_EQ(PrefixField("a.", absl::OkStatus()), absl::OkStatus());
}

}  // namespace
}  // namespace skiplane::base
