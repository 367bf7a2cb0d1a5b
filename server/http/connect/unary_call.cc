#include <utility>

#include <grpcpp/generic/generic_stub.h>

#include "server/http/connect/bytes.h"
#include "server/http/connect/call.h"
#include "server/http/connect/call_fields.h"
#include "server/http/connect/failure.h"
#include "server/rpc/call/no_room.h"

namespace skiplane::http::connect {
namespace {

class UnaryCall : public std::enable_shared_from_this<UnaryCall> {
 public:
  explicit UnaryCall(Call call) : call_(std::move(call)) {}

  void Start(rpc::InnerChannel& channel) {
    auto bytes = ToBytes(std::move(call_.request.body), call_.form, *call_.method->input_type());
    if (!bytes.ok()) return call_.RefuseBody(RefusalResponse(bytes.status()));
    request_ = BufferOf(*bytes);
    call_.Prepare(&context_);
    call_.exchange->OnLeft([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->context_.TryCancel();
    });
    const bool begins = channel.Begin([this](const rpc::InnerChannel::ChannelPtr& open) {
      grpc::GenericStub(open).UnaryCall(
          &context_, call_.Path(), {}, &request_, &response_,
          [self = shared_from_this()](const grpc::Status& status) { self->End(status); });
    });
    if (!begins) call_.Answer(RefusalResponse(rpc::BrokerIsDraining()));
  }

 private:
  void End(const grpc::Status& status) {
    call_.exchange->Reserve(response_.Length());
    Response response = status.ok() ? Success() : Failure(status);
    ReadMetadata(context_.GetServerInitialMetadata(), "", &response.fields);
    ReadMetadata(context_.GetServerTrailingMetadata(), "trailer-", &response.fields);
    call_.Answer(std::move(response));
  }

  Response Success() {
    auto body = FromBytes(TakeBytes(response_), call_.form, *call_.method->output_type());
    if (!body.ok()) return RefusalResponse(body.status());
    return {200, call_.form == Form::kJson ? "application/json" : "application/proto",
            *std::move(body)};
  }

  static Response Failure(const grpc::Status& status) {
    const absl::Status cut_off = CutOffBy(status);
    return cut_off.ok() ? ErrorResponse(status) : RefusalResponse(cut_off);
  }

  Call call_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

}  // namespace

void CallUnary(rpc::InnerChannel& channel, Call call) {
  std::make_shared<UnaryCall>(std::move(call))->Start(channel);
}

}  // namespace skiplane::http::connect
