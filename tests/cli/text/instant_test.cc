#include "client/cli/text/instant.h"

#include <gtest/gtest.h>

#include "client/cli/base/exit_code.h"

namespace skiplane::cli {
namespace {

const absl::Time kTen = absl::FromUnixSeconds(1795255200);  // 2026-11-21T10:00:00Z

TEST(InstantTest, ReadsRfc3339) {
  EXPECT_EQ(*ParseInstant("2026-11-21T10:00:00Z"), kTen);
  EXPECT_EQ(*ParseInstant("2026-11-21T12:00:00+02:00"), kTen);
  EXPECT_EQ(*ParseInstant("2026-11-21T10:00:00.25Z"), kTen + absl::Milliseconds(250));
}

TEST(InstantTest, ReadsWhatPostgresPrints) {
  EXPECT_EQ(*ParseInstant("2026-11-21 12:00:00+02"), kTen);
  EXPECT_EQ(*ParseInstant("2026-11-21 15:30:00.5+05:30"), kTen + absl::Milliseconds(500));
}

TEST(InstantTest, WithoutAZoneItIsTheLocalOne) {
  EXPECT_EQ(FormatInstant(*ParseInstant("2026-11-21 10:00")), "2026-11-21 10:00:00");
  EXPECT_EQ(FormatInstant(*ParseInstant("2026-11-21")), "2026-11-21 00:00:00");
}

TEST(InstantTest, RefusesWhatIsNoTime) {
  for (const char* const text : {"", "tomorrow", "10:00", "2026-13-01", "2026-11-21 25:00"}) {
    EXPECT_EQ(ExitCodeOf(ParseInstant(text).status()), kUsage) << text;
  }
}

}  // namespace
}  // namespace skiplane::cli
