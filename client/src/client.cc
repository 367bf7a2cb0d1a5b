// The broker's half of Client: enqueue, lease, settle, beat.
#include "skiplane/client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/src/await.h"
#include "client/src/connection.h"
#include "client/src/content.h"
#include "client/src/convert_task.h"
#include "client/src/produce/producer.h"
#include "client/src/random_id.h"
#include "client/src/status.h"
#include "client/src/unary_call.h"

namespace skiplane {
namespace {

using internal::BrokerMethods;
using internal::UnaryCall;
using internal::Via;

absl::Duration TimeoutOr(absl::Duration timeout, const internal::Connection& connection) {
  return timeout > absl::ZeroDuration() ? timeout : connection.options().call_timeout;
}

// Converts a response before it reaches the caller's callback.
template <typename Response, typename Answer>
auto Converted(Done<Answer> done) {
  return [done = std::move(done)](absl::StatusOr<Response> response) mutable {
    if (!response.ok()) return done(response.status());
    done(internal::FromProto(*std::move(response)));
  };
}

// An answer without one result per item would let the caller read past its end.
template <typename Answer>
Done<std::vector<Answer>> WithSize(size_t size, Done<std::vector<Answer>> done) {
  return [size, done = std::move(done)](absl::StatusOr<std::vector<Answer>> answer) mutable {
    if (answer.ok() && answer->size() != size) {
      return done(absl::InternalError(
          absl::StrCat("the broker gave ", answer->size(), " results for ", size, " items")));
    }
    done(std::move(answer));
  };
}

// Decodes the payloads of an answer before it reaches the caller's callback.
template <typename Answer>
Done<Answer> Decoded(std::shared_ptr<internal::Connection> connection, Done<Answer> done) {
  return [connection = std::move(connection),
          done = std::move(done)](absl::StatusOr<Answer> answer) mutable {
    if (answer.ok()) internal::DecodeTasks(connection->options(), *answer);
    done(std::move(answer));
  };
}

auto Joined(size_t size, Done<SettleAndLeaseAnswer> done) {
  return [size, done = std::move(done)](absl::StatusOr<v1::SettleResponse> response) mutable {
    if (!response.ok()) return done(response.status());
    SettleAndLeaseAnswer answer;
    if (response->has_lease()) {
      answer.lease = internal::FromProto(std::move(*response->mutable_lease()));
    }
    if (response->has_lease_refusal()) {
      answer.lease_refusal = internal::FromProto(response->lease_refusal());
    }
    const auto join = [&](absl::StatusOr<std::vector<SettleResult>> results) {
      if (!results.ok()) return done(results.status());
      answer.results = *std::move(results);
      done(std::move(answer));
    };
    WithSize<SettleResult>(size, join)(internal::FromProto(*response));
  };
}

std::vector<AckItem> ToItems(std::vector<std::string> lease_tokens) {
  std::vector<AckItem> items;
  for (std::string& token : lease_tokens) items.push_back({.lease_token = std::move(token)});
  return items;
}

// The broker knows a repeat by the worker and the id. So a caller who is no worker is one for this
// call, and a call with only one of the two by its caller's will is left as it is.
void MakeRepeatable(LeaseCall& call) {
  if (!call.request_id.empty()) return;
  call.request_id = internal::RandomId();
  if (call.worker_id.empty()) call.worker_id = internal::RandomId();
}

}  // namespace

Client::Client(std::shared_ptr<internal::Connection> connection)
    : connection_(std::move(connection)) {}

absl::StatusOr<Client> Client::Connect(ClientOptions options) {
  auto connection = internal::Connection::Open(std::move(options));
  if (!connection.ok()) return connection.status();
  return Client(*std::move(connection));
}

PendingCall Client::EnqueueAsync(EnqueueCall call, Done<std::vector<EnqueueResult>> done) {
  if (call.without_request_id) {
    call.request_id.clear();
  } else if (call.request_id.empty()) {
    call.request_id = internal::RandomId();
  }
  const size_t size = call.tasks.size();
  const bool repeatable = !call.request_id.empty();
  const absl::Duration timeout = TimeoutOr(call.timeout, *connection_);
  auto request = internal::EncodeToProto(connection_->options(), std::move(call));
  if (!request.ok()) {
    done(request.status());
    return PendingCall();
  }
  auto converted = Converted<v1::EnqueueResponse>(WithSize(size, std::move(done)));
  if (internal::Producer::IsFor(*request)) {
    return connection_->producer().Send(connection_, *std::move(request), timeout,
                                        std::move(converted));
  }
  return UnaryCall<v1::EnqueueRequest, v1::EnqueueResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Enqueue),
                    .request = *std::move(request),
                    .timeout = timeout,
                    .repeatable = repeatable,
                    .done = std::move(converted)});
}

PendingCall Client::LeaseAsync(LeaseCall call, Done<LeaseAnswer> done) {
  MakeRepeatable(call);
  return UnaryCall<v1::LeaseRequest, v1::LeaseResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Lease),
                    .request = internal::ToProto(call),
                    .timeout = call.wait + TimeoutOr(call.timeout, *connection_),
                    .repeatable = true,
                    .done = Converted<v1::LeaseResponse>(
                        Decoded(connection_, std::move(done)))});
}

PendingCall Client::AckAsync(std::vector<std::string> lease_tokens,
                             Done<std::vector<SettleResult>> done) {
  return AckAsync(ToItems(std::move(lease_tokens)), std::move(done));
}

PendingCall Client::AckAsync(std::vector<AckItem> items, Done<std::vector<SettleResult>> done) {
  const size_t size = items.size();
  auto request = internal::EncodeToAck(connection_->options(), std::move(items));
  if (!request.ok()) {
    done(request.status());
    return PendingCall();
  }
  return UnaryCall<v1::AckRequest, v1::AckResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Ack),
                    .request = *std::move(request),
                    .timeout = connection_->options().call_timeout,
                    .repeatable = true,
                    .done = Converted<v1::AckResponse>(WithSize(size, std::move(done)))});
}

PendingCall Client::NackAsync(std::vector<NackItem> items, Done<std::vector<SettleResult>> done) {
  const size_t size = items.size();
  return UnaryCall<v1::NackRequest, v1::NackResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Nack),
                    .request = internal::NackToProto(std::move(items)),
                    .timeout = connection_->options().call_timeout,
                    .repeatable = true,
                    .done = Converted<v1::NackResponse>(WithSize(size, std::move(done)))});
}

PendingCall Client::SettleAsync(std::vector<SettleItem> items,
                                Done<std::vector<SettleResult>> done) {
  const size_t size = items.size();
  auto request = internal::EncodeToSettle(connection_->options(), std::move(items));
  if (!request.ok()) {
    done(request.status());
    return PendingCall();
  }
  return UnaryCall<v1::SettleRequest, v1::SettleResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Settle),
                    .request = *std::move(request),
                    .timeout = connection_->options().call_timeout,
                    .repeatable = true,
                    .done = Converted<v1::SettleResponse>(WithSize(size, std::move(done)))});
}

PendingCall Client::SettleAndLeaseAsync(std::vector<SettleItem> items, LeaseCall next,
                                        Done<SettleAndLeaseAnswer> done) {
  const size_t size = items.size();
  auto request = internal::EncodeToSettle(connection_->options(), std::move(items));
  if (!request.ok()) {
    done(request.status());
    return PendingCall();
  }
  MakeRepeatable(next);
  *request->mutable_lease_next() = internal::ToProto(next);
  return UnaryCall<v1::SettleRequest, v1::SettleResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Settle),
                    .request = *std::move(request),
                    .timeout = next.wait + TimeoutOr(next.timeout, *connection_),
                    .repeatable = true,
                    .done = Joined(size, Decoded(connection_, std::move(done)))});
}

PendingCall Client::HeartbeatAsync(HeartbeatCall call, Done<HeartbeatAnswer> done) {
  const absl::Duration timeout = TimeoutOr(call.timeout, *connection_);
  return UnaryCall<v1::HeartbeatRequest, v1::HeartbeatResponse>::Start(
      connection_, {.send = Via(&BrokerMethods::Heartbeat),
                    .request = internal::ToProto(std::move(call)),
                    .timeout = timeout,
                    .repeatable = true,
                    .done = Converted<v1::HeartbeatResponse>(std::move(done))});
}

absl::StatusOr<EnqueueResult> Client::Enqueue(absl::string_view queue, NewTask task) {
  EnqueueCall call{.queue = std::string(queue)};
  call.tasks.push_back(std::move(task));
  auto results = Enqueue(std::move(call));
  if (!results.ok()) return results.status();
  return std::move(results->front());
}

absl::StatusOr<std::vector<EnqueueResult>> Client::Enqueue(EnqueueCall call) {
  return internal::Await<std::vector<EnqueueResult>>(
      [&](auto done) { EnqueueAsync(std::move(call), std::move(done)); });
}

absl::StatusOr<LeaseAnswer> Client::Lease(LeaseCall call) {
  return internal::Await<LeaseAnswer>(
      [&](auto done) { LeaseAsync(std::move(call), std::move(done)); });
}

absl::StatusOr<std::vector<SettleResult>> Client::Ack(std::vector<std::string> lease_tokens) {
  return Ack(ToItems(std::move(lease_tokens)));
}

absl::StatusOr<std::vector<SettleResult>> Client::Ack(std::vector<AckItem> items) {
  return internal::Await<std::vector<SettleResult>>(
      [&](auto done) { AckAsync(std::move(items), std::move(done)); });
}

absl::StatusOr<std::vector<SettleResult>> Client::Nack(std::vector<NackItem> items) {
  return internal::Await<std::vector<SettleResult>>(
      [&](auto done) { NackAsync(std::move(items), std::move(done)); });
}

absl::StatusOr<std::vector<SettleResult>> Client::Settle(std::vector<SettleItem> items) {
  return internal::Await<std::vector<SettleResult>>(
      [&](auto done) { SettleAsync(std::move(items), std::move(done)); });
}

absl::StatusOr<SettleAndLeaseAnswer> Client::SettleAndLease(std::vector<SettleItem> items,
                                                            LeaseCall next) {
  return internal::Await<SettleAndLeaseAnswer>([&](auto done) {
    SettleAndLeaseAsync(std::move(items), std::move(next), std::move(done));
  });
}

absl::StatusOr<HeartbeatAnswer> Client::Heartbeat(HeartbeatCall call) {
  return internal::Await<HeartbeatAnswer>(
      [&](auto done) { HeartbeatAsync(std::move(call), std::move(done)); });
}

}  // namespace skiplane
