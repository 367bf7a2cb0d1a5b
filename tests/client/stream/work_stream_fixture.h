// A worker on a stream of a FakeStreams, and what a test asks of that.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/client/stream/fake_streams.h"
#include "tests/client/worker_fixture.h"

namespace skiplane {

inline Result AtOnce(const LeasedTask&, Attempt&) { return Result::Done(); }

class WorkStreamTest : public testing::Test {
 protected:
  std::unique_ptr<Worker> Started(Handler handler, WorkerOptions options = {},
                                  ClientOptions client_options = {}) {
    options.queues = {{.name = "q", .weight = 3}};
    options.name = "me";
    client_options.addresses = {broker_.address()};
    client_options.backoff = absl::Milliseconds(1);
    auto client = Client::Connect(client_options);
    auto worker = Worker::Start(*client, options, std::move(handler));
    EXPECT_TRUE(worker.ok()) << worker.status();
    return *std::move(worker);
  }

  // Called with the broker's streams at rest, as by Wait():
  bool HasSettled(const std::string& id, int stream = 0) const {
    for (const auto& message : broker_.work) {
      if (stream != 0 && message.stream != stream) continue;
      for (const auto& settlement : message.request.settlements()) {
        if (TokenOf(settlement.item()) == "token-" + id) return true;
      }
    }
    return false;
  }

  static std::string TokenOf(const v1::SettleItem& item) {
    return item.has_ack() ? item.ack().lease_token() : item.nack().lease_token();
  }

  bool Settles(const std::string& id, int stream = 0) {
    return broker_.Wait([&] { return HasSettled(id, stream); });
  }

  const v1::WorkHello& HelloOf(int stream) const {
    for (const auto& message : broker_.work) {
      if (message.stream == stream && message.request.has_hello()) return message.request.hello();
    }
    return v1::WorkHello::default_instance();
  }

  int64_t CreditOn(int stream) const {
    int64_t credit = 0;
    for (const auto& message : broker_.work) {
      if (message.stream == stream) credit += message.request.credit();
    }
    return credit;
  }

  // Returns when the worker of this many streams was greeted.
  bool IsGreeted(int streams) {
    return broker_.Wait([&] { return HelloOf(streams).queues_size() > 0; });
  }

  // A notice that the lease with this token is lost.
  static void AddLost(const std::string& task, const std::string& token,
                      v1::WorkResponse* response) {
    v1::LeaseNotice* const notice = response->add_notices();
    notice->set_task_id(task);
    notice->set_state(v1::LEASE_STATE_LOST);
    notice->set_lease_token(token);
  }

  // How a broker ends a stream for this reason.
  static grpc::Status EndedFor(const std::string& reason) {
    google::rpc::ErrorInfo info;
    info.set_reason(reason);
    google::rpc::Status details;
    details.add_details()->PackFrom(info);
    return {grpc::ABORTED, "ended", details.SerializeAsString()};
  }

  FakeStreams broker_;
};

}  // namespace skiplane
