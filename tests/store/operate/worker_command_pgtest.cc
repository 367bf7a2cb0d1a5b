// What workers say of themselves, and what operators ask of them.
#include "gmock/gmock.h"
#include "server/store/reports.h"
#include "server/store/sessions.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::store {
namespace {

using model::WorkerCommand;
using testing::IsOkAndHolds;
using testing::Required;
using testing::UuidOf;

constexpr char kStranger[] = "0123456789abcdef";

class WorkerCommandTest : public testing::StoreHarness {
 protected:
  LivingSession TouchOne(const std::string& worker, uint8_t new_id,
                         const std::string& version = "", int32_t concurrency = 0) {
    return Required(TouchSessions(*session_, {Touch{.worker_id = worker,
                                                    .worker_name = "n",
                                                    .new_id = UuidOf(new_id),
                                                    .duration = absl::Minutes(1),
                                                    .ahead = absl::ZeroDuration(),
                                                    .client_version = version,
                                                    .concurrency = concurrency}})).front();
  }

  WorkerCommand RenewOne(const std::string& worker) {
    return Required(RenewSessions(*session_, {{worker, absl::Minutes(1), ""}})).front().command;
  }

  std::string HandleOf(uint8_t id) {
    return Sql("SELECT skiplane.worker_handle(id) FROM skiplane.worker_session WHERE id = "
               "(SELECT id FROM skiplane.worker_session ORDER BY id OFFSET " +
               std::to_string(id) + " LIMIT 1)");
  }
};

TEST_F(WorkerCommandTest, WhatAWorkerSaysOfItselfStaysUntilItSaysOtherwise) {
  TouchOne("w", 1, "mailer/7", 4);
  TouchOne("w", 2);
  model::Worker worker = Required(GetWorker(*session_, HandleOf(0))).value();
  EXPECT_EQ(worker.client_version, "mailer/7");
  EXPECT_EQ(worker.concurrency, 4);
  EXPECT_EQ(worker.command, WorkerCommand::kRun);
  TouchOne("w", 3, "mailer/8", 8);
  worker = Required(ListWorkers(*session_, "", "", 10)).front();
  EXPECT_EQ(worker.client_version, "mailer/8");
  EXPECT_EQ(worker.concurrency, 8);
}

TEST_F(WorkerCommandTest, EveryStatementThatReadsASessionTellsItsCommand) {
  EXPECT_EQ(TouchOne("w", 1).command, WorkerCommand::kRun);
  EXPECT_EQ(RenewOne("w"), WorkerCommand::kRun);
  for (const WorkerCommand command : {WorkerCommand::kQuiet, WorkerCommand::kStop,
                                      WorkerCommand::kRun}) {
    EXPECT_THAT(CommandWorker(*session_, HandleOf(0), command), IsOkAndHolds(true));
    EXPECT_EQ(RenewOne("w"), command);
    EXPECT_EQ(TouchOne("w", 2).command, command);
    EXPECT_EQ(Required(FindSessions(*session_, {std::string("w")})).front().command, command);
    EXPECT_EQ(Required(GetWorker(*session_, HandleOf(0)))->command, command);
  }
}

TEST_F(WorkerCommandTest, OnlyThatWorkerIsAsked) {
  TouchOne("v", 1);
  TouchOne("w", 2);
  EXPECT_THAT(CommandWorker(*session_, HandleOf(1), WorkerCommand::kStop), IsOkAndHolds(true));
  EXPECT_EQ(RenewOne("v"), WorkerCommand::kRun);
  EXPECT_EQ(RenewOne("w"), WorkerCommand::kStop);
}

TEST_F(WorkerCommandTest, NobodyIsAskedByAHandleThatNoLivingWorkerHas) {
  TouchOne("w", 1);
  EXPECT_THAT(CommandWorker(*session_, kStranger, WorkerCommand::kStop), IsOkAndHolds(false));
  const std::string handle = HandleOf(0);
  Sql("UPDATE skiplane.worker_session SET state = 2");
  EXPECT_THAT(CommandWorker(*session_, handle, WorkerCommand::kStop), IsOkAndHolds(false));
  EXPECT_FALSE(Required(GetWorker(*session_, handle)).has_value());
  EXPECT_FALSE(Required(GetWorker(*session_, "")).has_value());
}

TEST_F(WorkerCommandTest, ASessionOfOneCallHearsOfNothingAndIsNotAsked) {
  TouchOne("", 1);
  EXPECT_THAT(CommandWorker(*session_, HandleOf(0), WorkerCommand::kStop), IsOkAndHolds(false));
}

TEST_F(WorkerCommandTest, ACommandEndsWithItsSession) {
  TouchOne("w", 1);
  Required(CommandWorker(*session_, HandleOf(0), WorkerCommand::kQuiet));
  Sql("UPDATE skiplane.worker_session SET state = 2");
  EXPECT_EQ(TouchOne("w", 2).command, WorkerCommand::kRun);
}

}  // namespace
}  // namespace skiplane::store
