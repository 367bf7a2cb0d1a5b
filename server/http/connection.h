// One connection: reads a request, has it answered, and reads the next.
//
// It always reads, also while a request is being answered: so it notices a caller that leaves. A
// caller that ends its sending side has left: its call is given up. If that comes too late, it is
// sent the answer. What is sent ahead waits its turn, up to a limit.
// Everything has its time; see Limits. Used on the executor of its transport only, but for Start().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "server/http/byte_budget.h"
#include "server/http/connection_set.h"
#include "server/http/handler.h"
#include "server/http/limits.h"
#include "server/http/request_parser.h"
#include "server/http/transport.h"
#include "server/http/workers.h"
#include "server/http/writer.h"

namespace skiplane::http {

class Connection : public std::enable_shared_from_this<Connection>, private Writer::Owner {
 public:
  // What the connections of a server share. It outlives them.
  struct Shared {
    const Limits& limits;
    Handler& handler;
    ConnectionSet& set;
    ByteBudget& bytes;
    Workers& workers;
  };

  struct Peer {
    std::string address;  // see Caller
    std::string party;    // see net::SocketAddress
  };

  Connection(std::unique_ptr<Transport> transport, Peer peer, const Shared& shared);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // From any thread.
  void Start();
  boost::asio::any_io_executor executor() { return transport_->executor(); }

  // No request after the one that is being answered is read. A connection that had none yet may
  // still send one.
  void EndWhenAnswered();
  // Who waits for an answer is told that the caller left.
  void Close();

 private:
  class Call;
  // Ends last: a server that waits for its connections goes once there are none.
  struct Membership {
    ~Membership() { set.Remove(connection); }
    ConnectionSet& set;
    const Connection* const connection;
  };
  enum class Phase { kIdle, kHead, kBody, kAnswering, kFinishing, kLingering, kClosed };

  // Reading.
  void Read();
  void OnRead(size_t bytes);
  void Advance();
  bool Step();
  void OnHead();
  void BeginBody();
  void CountBody();
  void DropBody();
  void Dispatch();
  void HandleOnWorker(Request request);
  void OnOtherEndClosed();

  // Answering: for the current call, which has the bytes counted already.
  void Answer(const Call* call, Response response);
  void Begin(const Call* call, const Response& head);
  void Send(const Call* call, std::string bytes, std::function<void()> sent);
  void End(const Call* call);
  void OnLeft(const Call* call, std::function<void()> left);
  // Without a call.
  void Refuse(Response response, bool closes);
  void Fail(int status, absl::string_view message);
  void Finish(Response response, bool closes);

  // Writing.
  std::shared_ptr<Writer::Owner> Keep() override { return {shared_from_this(), this}; }
  void OnAllWritten() override;
  void OnWriteFailed() override { Close(); }
  void NextRequest();
  void Linger();

  void Within(absl::Duration time);
  void WithoutLimit();
  void OnTimeOut();

  const Membership membership_;
  const Shared shared_;
  ByteBudget::Account answers_;
  const std::unique_ptr<Transport> transport_;
  Writer writer_;
  Caller caller_;
  const std::string party_;
  boost::asio::steady_timer timer_;
  int64_t timer_round_ = 0;
  Phase phase_ = Phase::kIdle;

  bool is_reading_ = false;
  bool other_end_closed_ = false;
  std::string inbox_;   // where a read puts its bytes
  std::string unread_;  // not yet shown to the parser
  std::optional<RequestParser> parser_;
  int64_t counted_body_ = 0;

  std::shared_ptr<Call> call_;
  std::function<void()> left_;
  std::function<void()> sent_;
  bool closes_ = false;  // after the answer
  bool has_begun_ = false;  // the answer, which is a stream
  bool has_answered_ = false;
  bool is_chunked_ = false;
};

}  // namespace skiplane::http
