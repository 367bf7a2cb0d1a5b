// What the limit of open files leaves for callers.
#include "server/app/limits/descriptors.h"

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/log.h"
#include "tests/support/require.h"

namespace skiplane::app {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

constexpr int kDatabase = 7;
constexpr DescriptorPlan kPlan = {.ports = 1, .others = kDatabase};
constexpr int64_t kReserved = kDescriptorsReserved + kDatabase;

std::string Logged() {
  base::FlushLog();
  return GetCapturedStderr();
}

TEST(Descriptors, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit low = {100, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const int64_t raised = testing::Required(RaiseDescriptorLimit());
  EXPECT_GE(raised, 100);
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, usual.rlim_max);
  setrlimit(RLIMIT_NOFILE, &usual);
}

TEST(Descriptors, WithEnoughOfThemAllConnectionsAreAllowedAndNothingIsSaid) {
  CaptureStderr();
  EXPECT_EQ(testing::Required(ConnectionsWithin(kReserved + 1000, 1000, kPlan)), 1000);
  EXPECT_THAT(Logged(), IsEmpty());
}

TEST(Descriptors, ALowLimitIsWarnedOf) {
  CaptureStderr();
  EXPECT_EQ(testing::Required(ConnectionsWithin(1024, 10000, kPlan)), 1024 - kReserved);
  const std::string line = Logged();
  EXPECT_THAT(line, HasSubstr("few_descriptors limit=1024"));
  EXPECT_THAT(line, HasSubstr("connections_max=921"));
  EXPECT_THAT(line, HasSubstr("ulimit -n, to 10103"));
}

TEST(Descriptors, TheMetricsPageHasASmallPartOfThem) {
  EXPECT_EQ(PageConnectionsWithin(1 << 20, 256), 256);
  EXPECT_EQ(PageConnectionsWithin(1024, 256), 128);
  EXPECT_EQ(PageConnectionsWithin(4, 256), 1);
}

TEST(Descriptors, ALimitThatLeavesNothingForCallersIsAnError) {
  const absl::Status status = ConnectionsWithin(kReserved, 10, kPlan).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ulimit -n, to 113"));
  EXPECT_TRUE(ConnectionsWithin(kReserved + 1, 10, kPlan).ok());
}

}  // namespace
}  // namespace skiplane::app
