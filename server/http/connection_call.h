// The exchange of a request of a connection: carries what a handler says, on whatever thread, to
// the connection. Counts what it carries. To be included by the sources of Connection only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/dispatch.hpp>

#include "server/http/connection.h"

namespace skiplane::http {

class Connection::Call final : public Exchange,
                               public std::enable_shared_from_this<Connection::Call> {
 public:
  // `received`: of its body, counted already. They stay so until the call is over, because gRPC and
  // the services keep the message as long.
  Call(std::shared_ptr<Connection> connection, int64_t received)
      : connection_(std::move(connection)), received_(received) {}
  ~Call() override {
    Count(0);
    connection_->shared_.bytes.HoldBody(connection_->party_, -received_ - unpacked_);
  }

  bool HoldUnpacked(size_t bytes) override {
    const Shared& shared = connection_->shared_;
    const bool is_free = bytes <= shared.limits.free_body_bytes;
    const int64_t counted = is_free ? 0 : static_cast<int64_t>(bytes);
    const ByteBudget::Bodies room =
        shared.bytes.HoldBody(connection_->party_, counted - unpacked_.exchange(counted));
    return is_free || room == ByteBudget::Bodies::kRoom;
  }

  void Reserve(size_t bytes) override {
    reserved_ += static_cast<int64_t>(bytes);
    connection_->answers_.Hold(static_cast<int64_t>(bytes));
  }
  void Answer(Response response) override {
    Count(response.body.size());
    Run([response = std::move(response)](Connection& connection, const Call* call) mutable {
      connection.Answer(call, std::move(response));
    });
  }
  void Begin(Response head) override {
    Run([head = std::move(head)](Connection& connection, const Call* call) {
      connection.Begin(call, head);
    });
  }
  void Send(std::string bytes, std::function<void()> sent) override {
    Count(bytes.size());
    Run([bytes = std::move(bytes), sent = std::move(sent)](Connection& connection,
                                                           const Call* call) mutable {
      connection.Send(call, std::move(bytes), std::move(sent));
    });
  }
  void End() override {
    Run([](Connection& connection, const Call* call) { connection.End(call); });
  }
  void OnLeft(std::function<void()> left) override {
    Run([left = std::move(left)](Connection& connection, const Call* call) mutable {
      connection.OnLeft(call, std::move(left));
    });
  }

  void Leave() { has_left_ = true; }
  bool has_left() const { return has_left_; }

 private:
  // In place of what was reserved.
  void Count(size_t bytes) {
    connection_->answers_.Hold(static_cast<int64_t>(bytes) - reserved_.exchange(0));
  }

  template <typename Function>
  void Run(Function function) {
    boost::asio::dispatch(connection_->executor(), [call = shared_from_this(),
                                                    function = std::move(function)]() mutable {
      function(*call->connection_, call.get());
    });
  }

  const std::shared_ptr<Connection> connection_;
  const int64_t received_;
  std::atomic<int64_t> reserved_ = 0;
  std::atomic<int64_t> unpacked_ = 0;
  std::atomic<bool> has_left_ = false;
};

}  // namespace skiplane::http
