#include "server/rpc/call/wire_time.h"

#include <gtest/gtest.h>

namespace skiplane::rpc {
namespace {

TEST(WireTime, DurationsComeBackAsTheyWere) {
  const DurationRange any = {-absl::InfiniteDuration(), absl::InfiniteDuration()};
  for (const absl::Duration value :
       {absl::ZeroDuration(), absl::Nanoseconds(1), absl::Nanoseconds(-1),
        absl::Milliseconds(-1500), absl::Seconds(1) - absl::Nanoseconds(1), absl::Hours(87600)}) {
    google::protobuf::Duration wire;
    WriteDuration(value, &wire);
    const auto read = ReadDuration(wire, any, {"d"});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, value);
  }
}

TEST(WireTime, TimesComeBackAsTheyWere) {
  for (const absl::Time value :
       {absl::UnixEpoch(), absl::FromUnixNanos(-1), absl::FromUnixNanos(1700000000123456789),
        absl::FromUnixSeconds(-62135596800),
        absl::FromUnixSeconds(253402300800) - absl::Nanoseconds(1)}) {
    google::protobuf::Timestamp wire;
    WriteTime(value, &wire);
    EXPECT_GE(wire.nanos(), 0);
    const auto read = ReadTime(wire, {"t"});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, value);
  }
}

TEST(WireTime, TheBoundsOfARangeBelongToIt) {
  const DurationRange range = {absl::Seconds(1), absl::Seconds(2)};
  google::protobuf::Duration wire;
  wire.set_seconds(1);
  EXPECT_TRUE(ReadDuration(wire, range, {"d"}).ok());
  wire.set_seconds(2);
  EXPECT_TRUE(ReadDuration(wire, range, {"d"}).ok());
  wire.set_nanos(1);
  EXPECT_FALSE(ReadDuration(wire, range, {"d"}).ok());
  wire.set_seconds(0);
  wire.set_nanos(999999999);
  EXPECT_FALSE(ReadDuration(wire, range, {"d"}).ok());
}

}  // namespace
}  // namespace skiplane::rpc
