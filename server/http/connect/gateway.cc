#include "server/http/connect/gateway.h"

#include <algorithm>
#include <utility>

#include "server/http/connect/call_fields.h"
#include "server/http/connect/content.h"
#include "server/http/connect/failure.h"
#include "server/http/gzip.h"

namespace skiplane::http::connect {
namespace {

int HttpStatusOfUnpacking(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOutOfRange: return 413;
    case absl::StatusCode::kResourceExhausted: return 429;
    default: return 400;
  }
}

}  // namespace

Gateway::Gateway(std::shared_ptr<rpc::InnerChannel> channel, Options options)
    : channel_(std::move(channel)), options_(std::move(options)) {}

const google::protobuf::MethodDescriptor* Gateway::MethodOf(absl::string_view path) const {
  const size_t slash = path.rfind('/');
  if (slash == 0 || slash == absl::string_view::npos) return nullptr;
  const std::string service(path.substr(1, slash - 1));
  const auto& served = options_.services;
  if (std::find(served.begin(), served.end(), service) == served.end()) return nullptr;
  const auto* const found =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(service);
  return found == nullptr ? nullptr : found->FindMethodByName(std::string(path.substr(slash + 1)));
}

std::optional<Refusal> Gateway::Unpack(Request& request, Exchange& exchange) const {
  if (request.body.empty() || !IsGzip(request.head)) return std::nullopt;
  auto body = Gunzip(request.body, options_.body_bytes_max,
                     [&exchange](size_t bytes) { return exchange.HoldUnpacked(bytes); });
  if (!body.ok()) {
    return Refusal{HttpStatusOfUnpacking(body.status()), std::string(body.status().message()), {},
                   absl::IsInvalidArgument(body.status())};
  }
  request.body = *std::move(body);
  return std::nullopt;
}

std::optional<Response> Gateway::Refuse(const Head& head, const Caller& caller) {
  if (const auto refusal = options_.site.Check(head)) {
    const Refusal told{refusal->status, refusal->why};
    options_.refused(NameOf(told));
    return AnswerOf(told, std::nullopt);
  }
  if (auto preflight = options_.site.Preflight(head)) return preflight;
  if (options_.pages.Has(head.path)) {
    if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
    return Answer({405, "this page can only be read", {{"Allow", "GET, HEAD"}}}, head);
  }
  const auto* const method = MethodOf(head.path);
  if (const auto refusal = CheckCall(method, head)) return Answer(*refusal, head);
  const absl::Status admitted = Admit(*method, head, caller);
  if (admitted.ok()) return std::nullopt;
  options_.refused("caller");
  return With(RefusalResponse(admitted), options_.site.AnswerFields(head));
}

absl::Status Gateway::Admit(const google::protobuf::MethodDescriptor& method, const Head& head,
                            const Caller& caller) const {
  const auto& asking = options_.asking;
  if (std::find(asking.begin(), asking.end(), method.service()->full_name()) == asking.end()) {
    return absl::OkStatus();
  }
  return options_.admit(head, caller);
}

Response Gateway::Answer(const Refusal& refusal, const Head& head) const {
  options_.refused(NameOf(refusal));
  return With(AnswerOf(refusal, StreamFormOf(MethodOf(head.path), head)),
              options_.site.AnswerFields(head));
}

void Gateway::Handle(Request request, std::shared_ptr<Exchange> exchange) {
  Fields fields = options_.site.AnswerFields(request.head);
  if (options_.pages.Has(request.head.path)) {
    return exchange->Answer(With(options_.pages.Answer(request.head), fields));
  }
  if (const auto refusal = Unpack(request, *exchange)) {
    return exchange->Answer(Answer(*refusal, request.head));
  }
  Call call;
  call.method = MethodOf(request.head.path);
  const bool is_stream = call.method->server_streaming();
  call.form = *FormOf(request.head, is_stream);
  call.timeout = *TimeoutOf(request.head);
  call.request = std::move(request);
  call.exchange = std::move(exchange);
  call.answer_fields = std::move(fields);
  call.body_refused = [this] { options_.refused(kBodyRefused); };
  if (is_stream) {
    CallStream(*channel_, std::move(call));
  } else {
    CallUnary(*channel_, std::move(call));
  }
}

Response Gateway::Failure(int status, absl::string_view message, const Head& head) {
  return Answer({status, std::string(message)}, head);
}

}  // namespace skiplane::http::connect
