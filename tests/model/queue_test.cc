#include "server/model/queue.h"

#include <cmath>
#include <functional>
#include <limits>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "server/base/reason.h"

namespace skiplane::model {
namespace {

constexpr absl::Duration kMoment = absl::Microseconds(1);

std::string BlamedField(const std::function<void(QueueSettings&)>& change) {
  QueueSettings settings;
  change(settings);
  const absl::Status status = CheckSettings(settings, "settings.");
  EXPECT_EQ(base::ReasonOf(status), status.ok() ? "" : "INVALID_FIELD");
  return base::FieldOf(status);
}

bool IsNameAccepted(absl::string_view name) { return CheckQueueName(name, "queue").ok(); }

TEST(QueueNameTest, LettersDigitsDotsUnderscoresAndDashesAreAName) {
  for (const char* name : {"a", "Z", "0", "emails", "a.b_c-d", "0-._", "A9"}) {
    EXPECT_TRUE(IsNameAccepted(name)) << name;
  }
}

TEST(QueueNameTest, OtherNamesAreRefused) {
  for (const char* name : {"", ".a", "_a", "-a", "__other__", "a b", "a/b", "a\n", "\xC3\xA9", "a:",
                           "a\xC3\xA9", "[a]", "a`", "{"}) {
    EXPECT_FALSE(IsNameAccepted(name)) << name;
  }
  EXPECT_FALSE(IsNameAccepted(absl::string_view("a\0", 2)));
}

TEST(QueueNameTest, ANameHasAtMost128Bytes) {
  EXPECT_TRUE(IsNameAccepted(std::string(128, 'a')));
  EXPECT_FALSE(IsNameAccepted(std::string(129, 'a')));
}

TEST(QueueNameTest, TheRefusalBlamesTheFieldThatTheCallerNamed) {
  const absl::Status status = CheckQueueName("", "queues[2].name");
  EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD");
  EXPECT_EQ(base::FieldOf(status), "queues[2].name");
}

TEST(QueueSettingsTest, TheDefaultsAreInTheirRanges) {
  EXPECT_EQ(CheckSettings(QueueSettings(), "settings."), absl::OkStatus());
}

TEST(QueueSettingsTest, TheEndsOfTheRangesAreAllowed) {
  QueueSettings settings;
  settings.retry = {.kind = RetryKind::kTable,
                    .base_delay = absl::ZeroDuration(),
                    .factor = 1.0,
                    .max_delay = absl::Seconds(1),
                    .delays = {absl::ZeroDuration()},
                    .jitter = 0.0,
                    .max_attempts = 1};
  settings.lease_duration = absl::Seconds(1);
  settings.max_payload_bytes = 1;
  settings.limits = {.max_depth = 1, .max_bytes = 1, .max_enqueue_rate = 0.001};
  EXPECT_EQ(CheckSettings(settings, ""), absl::OkStatus());
  settings.retry = {.kind = RetryKind::kExponential,
                    .base_delay = absl::Hours(24),
                    .factor = 10.0,
                    .max_delay = absl::Hours(24),
                    .delays = std::vector<absl::Duration>(100, absl::Hours(24)),
                    .jitter = 0.5,
                    .max_attempts = 1000};
  settings.history = HistoryPolicy::kNone;
  settings.lease_duration = absl::Hours(12);
  settings.max_payload_bytes = 1 << 20;
  settings.limits = {
      .max_depth = 1000000000, .max_bytes = int64_t{1} << 50, .max_enqueue_rate = 1000000};
  EXPECT_EQ(CheckSettings(settings, ""), absl::OkStatus());
}

TEST(QueueSettingsTest, AnUnknownRetryKindIsBlamed) {
  for (const int kind : {-1, 0, 5}) {
    EXPECT_EQ(BlamedField([kind](auto& s) { s.retry.kind = static_cast<RetryKind>(kind); }),
              "settings.retry.kind");
  }
}

TEST(QueueSettingsTest, ABaseDelayOutOfRangeIsBlamed) {
  for (const absl::Duration delay :
       {-kMoment, kRetryDelayMax + kMoment, absl::InfiniteDuration(), -absl::InfiniteDuration()}) {
    EXPECT_EQ(BlamedField([delay](auto& s) { s.retry.base_delay = delay; }),
              "settings.retry.base_delay");
  }
}

TEST(QueueSettingsTest, AFactorOutOfRangeIsBlamed) {
  for (const double factor : {0.0, 0.999, 10.001, -2.0, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(BlamedField([factor](auto& s) { s.retry.factor = factor; }),
              "settings.retry.factor");
  }
}

TEST(QueueSettingsTest, AMaximumDelayOutOfRangeIsBlamed) {
  for (const absl::Duration delay : {absl::Seconds(1) - kMoment, kRetryDelayMax + kMoment}) {
    EXPECT_EQ(BlamedField([delay](auto& s) { s.retry.max_delay = delay; }),
              "settings.retry.max_delay");
  }
}

TEST(QueueSettingsTest, ATableNeedsAnEntry) {
  EXPECT_EQ(BlamedField([](auto& s) { s.retry.kind = RetryKind::kTable; }),
            "settings.retry.delays");
}

TEST(QueueSettingsTest, ATableHasAtMost100Entries) {
  EXPECT_EQ(BlamedField([](auto& s) { s.retry.delays.resize(101); }), "settings.retry.delays");
}

TEST(QueueSettingsTest, AnEntryOutOfRangeIsBlamedByItsPlace) {
  EXPECT_EQ(BlamedField([](auto& s) { s.retry.delays = {kMoment, -kMoment}; }),
            "settings.retry.delays[1]");
  EXPECT_EQ(BlamedField([](auto& s) { s.retry.delays = {kRetryDelayMax + kMoment}; }),
            "settings.retry.delays[0]");
}

TEST(QueueSettingsTest, AJitterOutOfRangeIsBlamed) {
  for (const double jitter : {-0.001, 0.501, std::nan("")}) {
    EXPECT_EQ(BlamedField([jitter](auto& s) { s.retry.jitter = jitter; }),
              "settings.retry.jitter");
  }
}

TEST(QueueSettingsTest, AttemptsOutOfRangeAreBlamed) {
  for (const int32_t attempts : {-1, 0, 1001, std::numeric_limits<int32_t>::max()}) {
    EXPECT_EQ(BlamedField([attempts](auto& s) { s.retry.max_attempts = attempts; }),
              "settings.retry.max_attempts");
  }
}

TEST(QueueSettingsTest, AnUnknownHistoryPolicyIsBlamed) {
  for (const int policy : {0, 4}) {
    EXPECT_EQ(BlamedField([policy](auto& s) { s.history = static_cast<HistoryPolicy>(policy); }),
              "settings.history");
  }
}

TEST(QueueSettingsTest, ALeaseDurationOutOfRangeIsBlamed) {
  for (const absl::Duration duration :
       {absl::ZeroDuration(), kLeaseDurationMin - kMoment, kLeaseDurationMax + kMoment}) {
    EXPECT_EQ(BlamedField([duration](auto& s) { s.lease_duration = duration; }),
              "settings.lease_duration");
  }
}

TEST(QueueSettingsTest, APayloadLimitOutOfRangeIsBlamed) {
  for (const int32_t bytes : {-1, 0, (1 << 20) + 1}) {
    EXPECT_EQ(BlamedField([bytes](auto& s) { s.max_payload_bytes = bytes; }),
              "settings.max_payload_bytes");
  }
}

TEST(QueueSettingsTest, ALimitOutOfRangeIsBlamed) {
  for (const int64_t tasks : {int64_t{-1}, int64_t{0}, kQueueDepthMax + 1}) {
    EXPECT_EQ(BlamedField([tasks](auto& s) { s.limits.max_depth = tasks; }),
              "settings.max_depth");
  }
  for (const int64_t bytes : {int64_t{-1}, int64_t{0}, kQueueBytesMax + 1}) {
    EXPECT_EQ(BlamedField([bytes](auto& s) { s.limits.max_bytes = bytes; }),
              "settings.max_bytes");
  }
  for (const double rate : {-1.0, 0.0, 0.0009, 1000000.1, std::nan("")}) {
    EXPECT_EQ(BlamedField([rate](auto& s) { s.limits.max_enqueue_rate = rate; }),
              "settings.max_enqueue_rate");
  }
}

// For people: not as 1e+06.
TEST(QueueSettingsTest, ARangeIsToldInFull) {
  QueueSettings settings;
  settings.limits.max_enqueue_rate = 0;
  EXPECT_TRUE(absl::EndsWith(CheckSettings(settings, "").message(), "must be 0.001 to 1000000"));
}

TEST(QueueTest, ThePauseModeSaysWhatIsPaused) {
  Queue queue;
  EXPECT_FALSE(queue.LeasesPaused() || queue.EnqueuesPaused());
  queue.pause = PauseMode::kLease;
  EXPECT_TRUE(queue.LeasesPaused() && !queue.EnqueuesPaused());
  queue.pause = PauseMode::kEnqueue;
  EXPECT_TRUE(!queue.LeasesPaused() && queue.EnqueuesPaused());
  queue.pause = PauseMode::kBoth;
  EXPECT_TRUE(queue.LeasesPaused() && queue.EnqueuesPaused());
}

}  // namespace
}  // namespace skiplane::model
