// The tables have a twin of every value that the API's files name, with the same number, which the
// database has, too.
#include "server/rpc/call/wire_enum.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/string_view.h"
#include "server/base/reason.h"

namespace skiplane::rpc {
namespace {

constexpr int kNumberMost = 20;  // of any value

// The numbers of all values but UNSPECIFIED.
template <typename Wire>
std::set<int> Named() {
  const google::protobuf::EnumDescriptor* type = google::protobuf::GetEnumDescriptor<Wire>();
  std::set<int> numbers;
  for (int i = 0; i < type->value_count(); ++i) numbers.insert(type->value(i)->number());
  numbers.erase(0);
  return numbers;
}

// Those which a value of ours with the same number stands for.
template <typename Wire, typename Ours>
std::set<int> Written(Wire (*write)(Ours)) {
  std::set<int> numbers;
  for (int number = 1; number <= kNumberMost; ++number) {
    const Wire wire = write(static_cast<Ours>(number));
    if (wire == static_cast<Wire>(number)) numbers.insert(number);
    else EXPECT_EQ(wire, static_cast<Wire>(0)) << "of our " << number;
  }
  return numbers;
}

template <typename Wire, typename Ours>
void ExpectAllAreWritten(Wire (*write)(Ours)) {
  EXPECT_EQ(Written(write), Named<Wire>()) << google::protobuf::GetEnumDescriptor<Wire>()->name();
}

TEST(WireEnum, EveryValueIsWritten) {
  ExpectAllAreWritten<v1::AttemptOutcome, model::AttemptOutcome>(&ToWire);
  ExpectAllAreWritten<v1::BulkOperationState, model::BulkOperationState>(&ToWire);
  ExpectAllAreWritten<v1::EnqueueOutcome, model::EnqueueOutcome>(&ToWire);
  ExpectAllAreWritten<v1::HistoryPolicy, model::HistoryPolicy>(&ToWire);
  ExpectAllAreWritten<v1::LeaseState, model::LeaseState>(&ToWire);
  ExpectAllAreWritten<v1::RetryKind, model::RetryKind>(&ToWire);
  ExpectAllAreWritten<v1::SettleOutcome, model::SettleOutcome>(&ToWire);
  ExpectAllAreWritten<v1::TaskState, model::TaskState>(&ToWire);
  ExpectAllAreWritten<v1::WaitReason, broker::WaitReason>(&ToWire);
}

// Of pauses only NONE has another number than ours, 0, which says on the wire that nothing is said.
TEST(WireEnum, EveryPauseIsWritten) {
  std::set<int> pauses = Named<v1::PauseMode>();
  EXPECT_EQ(pauses.erase(v1::PAUSE_MODE_NONE), 1U);
  EXPECT_EQ((Written<v1::PauseMode, model::PauseMode>(&ToWire)), pauses);
  EXPECT_EQ(ToWire(model::PauseMode::kNone), v1::PAUSE_MODE_NONE);
}

// All but those which no request may have.
template <typename Wire>
void ExpectAllAreRead(const std::set<int>& refused = {}) {
  const absl::string_view name = google::protobuf::GetEnumDescriptor<Wire>()->name();
  const auto unset = ReadEnum(static_cast<Wire>(0), {"it"});
  ASSERT_TRUE(unset.ok()) << name;
  EXPECT_FALSE(unset->has_value()) << name;
  std::set<int> read;
  for (int number = 1; number <= kNumberMost; ++number) {
    const auto value = ReadEnum(static_cast<Wire>(number), {"it"});
    if (!value.ok()) {
      EXPECT_EQ(base::FieldOf(value.status()), "it") << name;
    } else if (*value && static_cast<int>(**value) == number) {
      read.insert(number);
    }
  }
  std::set<int> expected = Named<Wire>();
  for (const int number : refused) EXPECT_EQ(expected.erase(number), 1U) << name;
  EXPECT_EQ(read, expected) << name;
}

TEST(WireEnum, EveryValueIsReadAndNoOther) {
  ExpectAllAreRead<v1::AttemptOutcome>();
  ExpectAllAreRead<v1::HistoryPolicy>();
  ExpectAllAreRead<v1::KeyPolicy>();
  ExpectAllAreRead<v1::NackDisposition>();
  ExpectAllAreRead<v1::PauseMode>({v1::PAUSE_MODE_NONE});
  ExpectAllAreRead<v1::RetryKind>();
}

TEST(WireEnum, AListHasNoUnspecifiedState) {
  EXPECT_FALSE(ReadEnum(v1::TASK_STATE_UNSPECIFIED, {"it"}).ok());
  EXPECT_EQ(*ReadEnum(v1::TASK_STATE_LEASED, {"it"}), model::TaskState::kLeased);
}

TEST(WireEnum, OfTwoValuesTheFirstIsTheDefault) {
  EXPECT_FALSE(*ReadEnum(v1::CATCH_UP_UNSPECIFIED, {"it"}));
  EXPECT_FALSE(*ReadEnum(v1::CATCH_UP_SKIP_MISSED, {"it"}));
  EXPECT_TRUE(*ReadEnum(v1::CATCH_UP_RUN_ALL, {"it"}));
  EXPECT_FALSE(*ReadEnum(v1::QUEUE_ORDER_WEIGHTED, {"it"}));
  EXPECT_TRUE(*ReadEnum(v1::QUEUE_ORDER_STRICT, {"it"}));
  EXPECT_FALSE(*ReadEnum(v1::TASK_VIEW_BASIC, {"it"}));
  EXPECT_TRUE(*ReadEnum(v1::TASK_VIEW_FULL, {"it"}));
}

}  // namespace
}  // namespace skiplane::rpc
