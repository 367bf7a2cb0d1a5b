// A worker's stream to a broker, and then the next one: tasks come while there is room for them,
// results go as they come to be, heartbeats say what is held. What a stream has not answered is
// sent again on the next one, whose hello names what is held: so one is open at a time.
//
// No thread is its own: handlers' threads and those of gRPC do what there is to do. It is told when
// the broker has no such streams, and then does nothing until Begin(). Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/src/stream/stream.h"
#include "client/src/stream/timer.h"
#include "client/src/worker/command.h"
#include "client/src/worker/denial_pause.h"
#include "client/src/worker/holdings.h"
#include "client/src/worker/settlement.h"
#include "client/src/worker/settler.h"
#include "client/src/worker/tally.h"

namespace skiplane::internal {

struct LinkPlan {
  v1::WorkHello hello;  // but for the leases
  absl::Duration lease_duration;
  int64_t max_tasks = 0;
  // The broker has no streams: results go to the settler from now on, and the rest is for others.
  std::function<void()> on_unary;
};

class Link : public Stream<v1::WorkRequest, v1::WorkResponse>::Owner,
             public std::enable_shared_from_this<Link> {
 public:
  using WorkStream = Stream<v1::WorkRequest, v1::WorkResponse>;

  // It begins without streams.
  Link(std::shared_ptr<Connection> connection, LinkPlan plan, Command& command,
       Holdings& holdings, Tally& tally, Settler& settler);

  void Begin();
  const std::atomic<bool>& is_unary() const { return is_unary_; }

  // Takes over a hold whose Withdraw() was true.
  void Add(HoldPtr hold, Result result) { Queue(Take(std::move(hold), std::move(result)), false); }
  // The same for one whose handler has returned, and whose End() was true: its place is given back,
  // so that one message settles it and makes room.
  void AddRan(HoldPtr hold, Result result) {
    Queue(Take(std::move(hold), std::move(result)), true);
  }
  // A handler has returned whose End() was false.
  void Ran(const HoldPtr& hold);
  // Takes its credit back; what still comes is handed back.
  void StopTaking();
  void WaitUntilSettled(absl::Duration at_most);
  // Nothing of it runs after that. Idempotent.
  void Close();

 private:
  using Time = Timer::Time;
  // What follows from what was heard, for after the mutex.
  struct Heard {
    std::vector<std::pair<SettlementPtr, v1::WorkResult*>> results;
    std::vector<HoldPtr> lost;
    std::vector<HoldPtr> asked_to_stop;
    std::vector<SettlementPtr> unary;
    std::vector<SettlementPtr> ended;  // results that nobody can send any more
    absl::Status error;
    std::optional<WorkerCommand> command;
    bool goes_unary = false, begins_anew = false;
  };

  bool Fill(WorkStream* stream, v1::WorkRequest* request) override;
  void Sent(WorkStream* stream, v1::WorkRequest* request) override;
  void Came(WorkStream* stream, v1::WorkResponse* response) override;
  void Ended(WorkStream* stream, const absl::Status& status) override;

  // Without the mutex:
  void Go();
  void OnTimer();
  void Do(Heard heard);
  void Account(const SettlementPtr& settlement, v1::WorkResult* result, Heard& later);
  void Refused(const SettlementPtr& settlement, const absl::Status& refusal);
  void End(const SettlementPtr& settlement, AttemptEnd end);
  SettlementPtr Take(HoldPtr hold, Result result);
  void Queue(SettlementPtr settlement, bool has_run);
  void ReleaseWaiting();
  void Lose(const HoldPtr& hold);
  void BeginAnew();

  // With the mutex held: what goes.
  void WriteHello(v1::WorkRequest* request);
  bool WriteSettlements(WorkStream* stream, v1::WorkRequest* request);
  bool WriteHeartbeat(v1::WorkRequest* request);
  bool WriteCredit(v1::WorkRequest* request);
  // What comes.
  void TakeWelcome(const v1::WorkWelcome& welcome, Heard& heard);
  void TakeHeartbeat(const v1::WorkHeartbeatResult& result, Heard& heard);
  void TakeNotices(const v1::WorkResponse& response, Heard& heard);
  static void TakeState(v1::LeaseState state, const HoldPtr& hold, Heard& heard);
  void TakeEnd(const WorkStream& stream, const absl::Status& status, Heard& heard);
  absl::Duration PauseAfter(const absl::Status& status);
  void Await();
  void SetTimer();

  const std::shared_ptr<Connection> connection_;
  const LinkPlan plan_;
  const absl::Duration interval_;  // of heartbeats
  Command& command_;
  Holdings& holdings_;
  Tally& tally_;
  Settler& settler_;
  std::atomic<bool> is_unary_{true};

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_taking_ = true, is_closed_ = false;
  int busy_ = 0;       // calls of the timer that run
  int unsettled_ = 0;  // results that are not answered, nor given to the settler
  std::deque<SettlementPtr> queue_;
  std::vector<SettlementPtr> later_;  // that were refused for now

  // The stream, if there is one:
  std::shared_ptr<WorkStream> stream_;
  bool is_given_up_ = false;  // as it owed an answer for too long
  bool is_greeted_ = false, is_welcome_ = false, is_draining_ = false;
  int credit_ = 0;
  std::vector<HoldPtr> greeted_;  // in the order of the hello
  absl::flat_hash_map<int64_t, SettlementPtr> sent_;
  std::deque<HoldPtr> to_beat_;         // of the heartbeat that is due
  bool is_beat_due_ = false;
  std::map<int64_t, std::vector<HoldPtr>> beats_;  // not answered
  std::optional<Time> awaited_since_;              // an answer that the broker owes soon
  int64_t number_ = 0;
  int failures_ = 0;  // in a row
  DenialPause denial_pause_;
  std::optional<Time> begin_at_, beat_at_, later_at_;
  Timer timer_;
};

}  // namespace skiplane::internal
