#include "server/rpc/settings/setting_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/base/reason.h"

namespace skiplane::rpc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

google::protobuf::FieldMask Mask(const std::vector<std::string>& paths) {
  google::protobuf::FieldMask mask;
  for (const std::string& path : paths) mask.add_paths(path);
  return mask;
}

SettingPaths Read(const std::vector<std::string>& mask, const v1::QueueSettings& settings = {}) {
  const auto paths = ReadMask(Mask(mask), settings);
  EXPECT_TRUE(paths.ok()) << paths.status();
  return paths.value_or(SettingPaths());
}

std::string FieldAtFault(const std::vector<std::string>& mask,
                         const v1::QueueSettings& settings = {}) {
  const absl::Status status = ReadMask(Mask(mask), settings).status();
  EXPECT_EQ(base::ReasonOf(status), "INVALID_FIELD");
  return base::FieldOf(status);
}

TEST(ReadMask, NamesWhatIsTaken) {
  v1::QueueSettings settings;
  settings.set_failed_days(3);
  EXPECT_THAT(Read({"history", "retry.kind"}, settings), ElementsAre("history", "retry.kind"));
  EXPECT_THAT(Read({"retry", "retry.kind"}), ElementsAre("retry", "retry.kind"));
}

TEST(ReadMask, AStarNamesAllSettings) {
  EXPECT_EQ(Read({"*"}), AllSettings());
  EXPECT_THAT(AllSettings(), SizeIs(21));
  EXPECT_THAT(AllSettings(), Contains("retry.max_attempts"));
  EXPECT_THAT(AllSettings(), Contains("keep_results"));
  EXPECT_THAT(AllSettings(), Not(Contains("retry")));
}

TEST(ReadMask, WithoutPathsIsWhatIsSet) {
  v1::QueueSettings settings;
  settings.set_keep_payloads(false);
  settings.set_max_payload_bytes(0);
  settings.set_history(v1::HISTORY_POLICY_NONE);
  settings.mutable_lease_duration();
  settings.add_stages();
  settings.mutable_retry()->set_jitter(0);
  settings.mutable_retry()->set_kind(v1::RETRY_KIND_TABLE);
  settings.mutable_retry()->add_delays();
  EXPECT_THAT(Read({}, settings),
              UnorderedElementsAre("keep_payloads", "max_payload_bytes", "history",
                                   "lease_duration", "stages", "retry.jitter", "retry.kind",
                                   "retry.delays"));
}

TEST(ReadMask, WithoutPathsLeavesWhatIsNotSet) {
  v1::QueueSettings settings;
  settings.set_history(v1::HISTORY_POLICY_UNSPECIFIED);
  settings.mutable_retry()->set_kind(v1::RETRY_KIND_UNSPECIFIED);
  EXPECT_EQ(FieldAtFault({}, settings), "settings");
  settings.set_history_days(1);
  EXPECT_THAT(Read({}, settings), ElementsAre("history_days"));
  EXPECT_EQ(FieldAtFault({}), "settings");
}

TEST(ReadMask, NamesThePathAtFault) {
  EXPECT_EQ(FieldAtFault({"history", "name"}), "update_mask.paths[1]");
  EXPECT_EQ(FieldAtFault({"retry.maxAttempts"}), "update_mask.paths[0]");
  EXPECT_EQ(FieldAtFault({"stages.name"}), "update_mask.paths[0]");
  EXPECT_EQ(FieldAtFault({"*", "history"}), "update_mask.paths[0]");
  EXPECT_EQ(FieldAtFault({"history", "retry", "history"}), "update_mask.paths[2]");
}

TEST(ReadMask, HasABound) {
  EXPECT_EQ(FieldAtFault(std::vector<std::string>(101, "retry")), "update_mask.paths");
  EXPECT_EQ(FieldAtFault(std::vector<std::string>(100, "retry")), "update_mask.paths[1]");
}

}  // namespace
}  // namespace skiplane::rpc
