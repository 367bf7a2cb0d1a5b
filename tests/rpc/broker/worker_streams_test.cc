#include "server/rpc/broker/worker_streams.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace skiplane::rpc {
namespace {

constexpr model::SessionId kSession{1}, kOther{2};

// Notes what it is told, in the list that all share.
class NotingStream final : public WorkerStream {
 public:
  NotingStream(std::string name, std::vector<std::string>* told)
      : name_(std::move(name)), told_(*told) {}

  void Yield() override { Note("yields"); }
  void Replaced(const LeaseNumbers* named) override {
    Note(named == nullptr ? "is replaced by one that was refused"
                          : absl::StrCat("is replaced by one with ", named->size()));
  }
  void OnLeasesTaken() override { Note("hears of leases"); }
  void OnSessionGone() override { Note("has no session"); }

 private:
  void Note(const std::string& what) { told_.push_back(absl::StrCat(name_, " ", what)); }

  const std::string name_;
  std::vector<std::string>& told_;
};

class WorkerStreamsTest : public ::testing::Test {
 protected:
  // What was told since the last look.
  std::string Told() {
    const std::string told = absl::StrJoin(told_, "; ");
    told_.clear();
    return told;
  }

  std::vector<std::string> told_;
  WorkerStreams streams_;
  NotingStream first_{"first", &told_}, second_{"second", &told_}, third_{"third", &told_};
  const LeaseNumbers none_, two_{{{1, 1}, 1}, {{1, 2}, 2}};
};

TEST_F(WorkerStreamsTest, TheEarlierOneYieldsToAHelloAndEndsWhenThatIsAnswered) {
  streams_.Add(&first_, "w");
  streams_.Opened(&first_, kSession, none_);
  EXPECT_EQ(Told(), "");
  streams_.Add(&second_, "w");
  EXPECT_EQ(Told(), "first yields");
  streams_.Opened(&second_, kSession, two_);
  EXPECT_EQ(Told(), "first is replaced by one with 2");
}

TEST_F(WorkerStreamsTest, OthersWorkersAreNotConcerned) {
  streams_.Add(&first_, "w");
  streams_.Opened(&first_, kSession, none_);
  streams_.Add(&second_, "v");
  streams_.Opened(&second_, kOther, none_);
  EXPECT_EQ(Told(), "");
}

TEST_F(WorkerStreamsTest, WhoYieldedToARefusedHelloEndsToo) {
  streams_.Add(&first_, "w");
  streams_.Opened(&first_, kSession, none_);
  streams_.Add(&second_, "w");
  streams_.Refused(&second_);
  EXPECT_EQ(Told(), "first yields; first is replaced by one that was refused");
}

TEST_F(WorkerStreamsTest, AHelloThatIsAnsweredAfterALaterOneReplacesNobody) {
  streams_.Add(&first_, "w");
  streams_.Add(&second_, "w");
  streams_.Add(&third_, "w");
  EXPECT_EQ(Told(), "first yields; first yields; second yields");
  streams_.Opened(&second_, kSession, two_);
  EXPECT_EQ(Told(), "first is replaced by one with 2");
  streams_.Opened(&third_, kSession, none_);
  EXPECT_EQ(Told(), "second is replaced by one with 0") << "the first was told once";
  streams_.Opened(&first_, kSession, none_);
  streams_.TellSessionsGone({kSession});
  EXPECT_EQ(Told(), "third has no session");
}

TEST_F(WorkerStreamsTest, ASessionThatIsGoneIsToldToItsStreamOnly) {
  streams_.Add(&first_, "w");
  streams_.Opened(&first_, kSession, none_);
  streams_.Add(&second_, "v");
  streams_.TellSessionsGone({kSession, kOther});
  EXPECT_EQ(Told(), "first has no session");
}

TEST_F(WorkerStreamsTest, ATakenLeaseIsToldToAll) {
  streams_.Add(&first_, "w");
  streams_.Add(&second_, "v");
  streams_.TellLeasesTaken();
  const std::string told = Told();
  EXPECT_TRUE(told == "first hears of leases; second hears of leases" ||
              told == "second hears of leases; first hears of leases")
      << told;
}

TEST_F(WorkerStreamsTest, WhoIsGoneIsToldNothing) {
  streams_.Add(&first_, "w");
  streams_.Opened(&first_, kSession, none_);
  streams_.Add(&second_, "w");
  EXPECT_EQ(Told(), "first yields");
  streams_.Remove(&first_);
  streams_.Opened(&second_, kSession, none_);
  streams_.TellSessionsGone({kSession});
  EXPECT_EQ(Told(), "second has no session");
  streams_.Remove(&second_);
  streams_.Remove(&third_);
  streams_.TellSessionsGone({kSession});
  streams_.TellLeasesTaken();
  EXPECT_EQ(Told(), "");
}

TEST_F(WorkerStreamsTest, ASessionStaysWithTheLaterStreamWhenTheEarlierOneGoes) {
  streams_.Add(&first_, "w");
  streams_.Opened(&first_, kSession, none_);
  streams_.Add(&second_, "w");
  streams_.Opened(&second_, kSession, none_);
  streams_.Remove(&first_);
  Told();
  streams_.TellSessionsGone({kSession});
  EXPECT_EQ(Told(), "second has no session");
}

}  // namespace
}  // namespace skiplane::rpc
