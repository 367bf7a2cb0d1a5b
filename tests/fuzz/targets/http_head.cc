// Heads of requests, as the gateway reads them: whom they are for, which call, how long it may take
// and what the services are told. Also envelopes of streams.
#include <grpc/grpc.h>
#include <grpcpp/client_context.h>
#include <grpcpp/test/client_context_test_peer.h>

#include <string>

#include "server/http/connect/call_fields.h"
#include "server/http/connect/content.h"
#include "server/http/connect/envelope.h"
#include "server/http/connect/refusal.h"
#include "server/http/limits.h"
#include "server/http/request_parser.h"
#include "server/http/site.h"
#include "skiplane/v1/broker.pb.h"
#include "tests/fuzz/target.h"

namespace skiplane::fuzz {
namespace {

namespace connect = http::connect;

grpc_slice Unowned(const std::string& text) {
  return grpc_slice_from_static_buffer(text.data(), text.size());
}

// gRPC ends the process at a call with any other.
void DemandMetadata(const http::Head& head) {
  grpc::ClientContext context;
  connect::WriteMetadata(head, {.address = "ipv4:127.0.0.1:40000", .name = ""}, &context);
  for (const auto& [name, value] : grpc::testing::ClientContextTestPeer(&context)
                                       .GetSendInitialMetadata()) {
    Demand(grpc_header_key_is_legal(Unowned(name)) != 0, "the name of metadata is legal");
    Demand(grpc_header_nonbin_value_is_legal(Unowned(value)) != 0 &&
               grpc_is_binary_header(Unowned(name)) == 0,
           "the value of metadata is legal");
  }
}

void DemandTimeout(const http::Head& head) {
  const auto timeout = connect::TimeoutOf(head);
  if (!timeout.ok()) {
    Demand(absl::IsInvalidArgument(timeout.status()), "a wrong time-out is refused");
  } else if (timeout->has_value()) {
    Demand(**timeout > absl::ZeroDuration() && **timeout < absl::Hours(24 * 120),
           "a time-out is positive, and not for ever");
  }
}

void DemandCall(const http::Head& head) {
  const auto* const service = v1::EnqueueRequest::descriptor()->file()->service(0);
  for (int i = 0; i < service->method_count(); ++i) {
    const auto* const method = service->method(i);
    const auto refusal = connect::CheckCall(method, head);
    if (refusal) {
      Demand(refusal->http_status >= 400 && refusal->http_status < 600, "a refusal is one");
      connect::AnswerOf(*refusal, connect::StreamFormOf(method, head));
    } else {
      Demand(connect::FormOf(head, method->server_streaming()).has_value() &&
                 connect::TimeoutOf(head).ok(),
             "a call that is taken says what it is");
    }
  }
}

void ReadHttpHead(absl::string_view bytes) {
  const auto opened = connect::OpenOnlyEnvelope(bytes);
  if (opened.ok()) {
    Demand(connect::Envelope(connect::kPlain, *opened) == bytes, "an envelope has one form");
  }
  http::RequestParser parser(http::Limits().head_bytes, http::Limits().body_bytes);
  if (parser.Read(bytes).event != http::RequestParser::Event::kHead) return;
  static const http::Site site({"broker.internal"}, {"https://tools.example"});
  const auto refusal = site.Check(parser.head());
  Demand(!refusal || refusal->status >= 400, "a refusal is one");
  site.AnswerFields(parser.head());
  site.Preflight(parser.head());
  DemandMetadata(parser.head());
  DemandTimeout(parser.head());
  DemandCall(parser.head());
}

const Target kHttpHead("http_head", &ReadHttpHead);

}  // namespace
}  // namespace skiplane::fuzz
