// A FakeBroker with streams: it keeps every message of them for the test to look at, and answers as
// the test tells it. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/fake_broker.h"

namespace skiplane {

class FakeStreams : public FakeBroker {
 public:
  template <typename Request, typename Response>
  class Stream;
  using WorkReactor = Stream<v1::WorkRequest, v1::WorkResponse>;
  using ProduceReactor = Stream<v1::ProduceRequest, v1::ProduceResponse>;

  ~FakeStreams() override;

  // The stream that was begun last says it, or ends so.
  void Say(v1::WorkResponse response);
  void EndWork(grpc::Status status);
  void Say(v1::ProduceResponse response);
  void EndProduce(grpc::Status status);
  // A task for the worker, as if it had credit. Its token is "token-" + id.
  void Push(const std::string& id);

  // From now on results, welcomes or answers to enqueues are not given by themselves.
  void HoldResults(bool is_held);
  void HoldAnswers(bool is_held);
  // From now on the worker hears nothing on its stream with this number, whatever it says.
  void FallSilentOn(int stream);
  // From now on this stream reads no message but one that it waits for already, until another one
  // is named; 0: none.
  void HoldReadsOf(int stream);
  // The next results or answers are this refusal.
  void RefuseNext(int times, v1::Refusal refusal);
  // What heartbeats say from now on.
  void SetStreamCommand(v1::WorkerCommand command);
  // What the welcome and heartbeats say of a token.
  void SetStreamState(const std::string& token, v1::LeaseState state);

  // Of all streams, in order; `stream` counts from 1.
  struct WorkMessage {
    int stream;
    v1::WorkRequest request;
  };
  struct ProduceMessage {
    int stream;
    v1::ProduceRequest request;
  };
  std::vector<WorkMessage> work;
  std::vector<ProduceMessage> produced;
  int work_streams = 0;
  int produce_streams = 0;
  int ended_streams = 0;
  std::string stream_authorization;  // of the stream that was begun last

  // Whether `condition` became true; it may read the members above.
  bool Wait(const std::function<bool()>& condition);

 private:
  grpc::ServerBidiReactor<v1::WorkRequest, v1::WorkResponse>* Work(
      grpc::CallbackServerContext* context) override;
  grpc::ServerBidiReactor<v1::ProduceRequest, v1::ProduceResponse>* Produce(
      grpc::CallbackServerContext* context) override;

  void Came(int stream, const v1::WorkRequest& request, WorkReactor* from);
  void Came(int stream, const v1::ProduceRequest& request, ProduceReactor* from);
  v1::Refusal* NextRefusal();

  std::mutex streams_mutex_;
  std::condition_variable streams_changed_;
  WorkReactor* last_work_ = nullptr;
  ProduceReactor* last_produce_ = nullptr;
  bool holds_results_ = false;
  bool holds_answers_ = false;
  int silent_stream_ = 0;
  int holds_reads_of_ = 0;
  std::function<void()> held_read_;
  std::deque<v1::Refusal> refusals_;
  v1::Refusal refusal_;
  std::map<std::string, v1::LeaseState> stream_states_;
  v1::WorkerCommand command_ = v1::WORKER_COMMAND_UNSPECIFIED;
};

}  // namespace skiplane
