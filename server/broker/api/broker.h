// The only way from rpc to the tasks. Every method returns at once and answers through `done`,
// which is called exactly once, also when the broker stops (BROKER_DRAINING).
//
// Thread-safe. Knows no gRPC.
#pragma once

#include <memory>

#include "server/broker/api/calls.h"
#include "server/broker/api/open_session.h"
#include "server/broker/api/operator.h"

namespace skiplane::broker {

// A Lease on its way. Cancel() may be called at any time from any thread, once or more, also after
// the answer; the object may be dropped without it.
class PendingLease {
 public:
  virtual ~PendingLease() = default;

  // The caller vanished before its answer: the call is forgotten, `done` is called with an empty
  // answer, and what had been leased for it is handed back at once and uncharged, unless the call
  // had a request id.
  virtual void Cancel() = 0;
};

class Broker {
 public:
  virtual ~Broker() = default;

  virtual void Enqueue(EnqueueCall call, Callback<std::vector<EnqueueResult>> done) = 0;
  virtual std::shared_ptr<PendingLease> Lease(LeaseCall call, Callback<LeaseAnswer> done) = 0;
  // Attempts end, each in its own way. `party`: as in LeaseCall.
  virtual void Settle(std::vector<model::SettleItem> items, const std::string& party,
                      Callback<std::vector<model::SettleResult>> done) = 0;
  // The lease begins when the items are settled, or with them. Cancel() does not undo that.
  virtual std::shared_ptr<PendingLease> SettleAndLease(SettleAndLeaseCall call,
                                                       Callback<SettleAndLeaseAnswer> done) = 0;
  // With end_session: ends the worker's session and hands back all that it holds, uncharged.
  virtual void Heartbeat(HeartbeatCall call, Callback<HeartbeatAnswer> done) = 0;

  // Makes the worker's session, or moves its end, and hands back what that holds and the call does
  // not name: at once, and a second and 20 seconds later what was on its way when the call came.
  // Leases of the worker that are asked for after the answer are not touched.
  virtual void OpenSession(OpenSessionCall call, Callback<OpenSessionAnswer> done) = 0;

  // What became of leases of sessions that live, one state per lease, in order. Renews nothing.
  virtual void LookAtLeases(std::vector<model::LeaseToken> leases,
                            Callback<std::vector<model::LeaseState>> done) = 0;

  // From now on `taken` is called when somebody took leases from workers that live, or their work
  // is to stop, whoever they are; null: nobody is. Returns when an earlier one is not called any
  // more.
  virtual void WhenLeasesAreTaken(LeasesTaken taken) = 0;

  // The same for sessions that ended or were lost, and all their leases with them: those of other
  // workers, too. It may be called late, or not at all.
  virtual void WhenSessionsAreGone(SessionsGone gone) = 0;

  // The answer to a Lease could not be delivered: hands its tasks back at once and uncharged.
  // Not for calls with a request id: their caller may ask again.
  virtual void HandBack(const LeaseAnswer& undelivered) = 0;

  virtual void CreateQueue(CreateQueueCall call, Callback<model::Queue> done) = 0;
  virtual void GetQueue(GetQueueCall call, Callback<QueueWithCounts> done) = 0;
  // In the order of their names.
  virtual void ListQueues(ListQueuesCall call, Callback<model::Page<model::Queue>> done) = 0;
  virtual void UpdateQueue(UpdateQueueCall call, Callback<model::Queue> done) = 0;
  virtual void PauseQueue(PauseQueueCall call, Callback<model::Queue> done) = 0;

  // What else operators call.
  virtual Operator& AsOperator() = 0;

  // From now on Lease is refused with BROKER_DRAINING and parked ones are answered empty; the other
  // calls go on.
  virtual void BeginDrain() = 0;

  // Leases that wait now are answered empty, as at the end of their wait: their callers may do
  // other things than when they came.
  virtual void EndLeaseWaits() = 0;
};

}  // namespace skiplane::broker
