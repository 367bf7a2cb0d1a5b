#include <utility>

#include <grpcpp/generic/generic_stub.h>

#include "server/base/mutex.h"
#include "server/http/connect/bytes.h"
#include "server/http/connect/call.h"
#include "server/http/connect/call_fields.h"
#include "server/http/connect/content.h"
#include "server/http/connect/envelope.h"
#include "server/http/connect/failure.h"
#include "server/rpc/call/no_room.h"

namespace skiplane::http::connect {
namespace {

// One message goes out before the next is read, so that a slow reader holds one message only.
// gRPC is told by a hold that a read may come from outside of its callbacks.
class StreamCall : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                   public std::enable_shared_from_this<StreamCall> {
 public:
  explicit StreamCall(Call call) : call_(std::move(call)) {}

  void Start(rpc::InnerChannel& channel, const std::string& bytes) {
    request_ = BufferOf(bytes);
    call_.Prepare(&context_);
    const bool begins = channel.Begin([this](const rpc::InnerChannel::ChannelPtr& open) {
      self_ = shared_from_this();
      grpc::GenericStub(open).PrepareBidiStreamingCall(&context_, call_.Path(), {}, this);
      AddHold();
      StartWriteLast(&request_, grpc::WriteOptions());
      StartRead(&message_);
      StartCall();
    });
    if (!begins) {
      return call_.Answer(StreamRefusalResponse(rpc::BrokerIsDraining(), call_.form));
    }
    call_.exchange->OnLeft([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Leave();
    });
  }

 private:
  enum class State { kReading, kSending, kEnded };

  void OnReadDone(bool is_good) override {
    if (!is_good) return Release();
    call_.exchange->Reserve(message_.Length());
    Begin();
    auto body = FromBytes(TakeBytes(message_), call_.form, *call_.method->output_type());
    if (!body.ok()) {
      failure_ = body.status();
      context_.TryCancel();
      return Release();
    }
    if (!BeginSending()) return Release();
    call_.exchange->Send(Envelope(kPlain, *body), [self = shared_from_this()] { self->ReadOn(); });
  }

  // False if nobody would tell that the message was sent.
  bool BeginSending() {
    base::MutexLock lock(mutex_);
    if (has_left_) return false;
    state_ = State::kSending;
    return true;
  }

  void ReadOn() {
    {
      base::MutexLock lock(mutex_);
      if (state_ != State::kSending) return;
      state_ = State::kReading;
    }
    StartRead(&message_);
  }

  // What was sent last tells no more that there is room.
  void Leave() {
    context_.TryCancel();
    {
      base::MutexLock lock(mutex_);
      has_left_ = true;
      if (state_ != State::kSending) return;
      state_ = State::kEnded;  // in one step: ReadOn may come beside it
    }
    RemoveHold();
  }

  void Release() {
    {
      base::MutexLock lock(mutex_);
      if (std::exchange(state_, State::kEnded) == State::kEnded) return;
    }
    RemoveHold();
  }

  void OnDone(const grpc::Status& status) override {
    Begin();
    failure_.Update(CutOffBy(status));
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (!failure_.ok()) {
      json = RefusalEnd(failure_);
    } else if (!status.ok()) {
      json["error"] = ErrorJson(status);
    }
    Fields trailers;
    ReadMetadata(context_.GetServerTrailingMetadata(), "", &trailers);
    for (auto& [name, value] : trailers) json["metadata"][name].push_back(std::move(value));
    call_.exchange->Send(Envelope(kEndOfStream, TextOf(json)), [] {});
    call_.exchange->End();
    self_.reset();
  }

  // Once, with what the service said before its first message.
  void Begin() {
    if (std::exchange(has_begun_, true)) return;
    Response head{200, StreamType(call_.form), "", call_.answer_fields};
    ReadMetadata(context_.GetServerInitialMetadata(), "", &head.fields);
    call_.exchange->Begin(std::move(head));
  }

  Call call_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer message_;
  absl::Status failure_;
  bool has_begun_ = false;
  base::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kReading;
  bool has_left_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<StreamCall> self_;  // until the last callback
};

// A stream that cannot begin ends with its error, as any other.
void Refuse(const Call& call, const absl::Status& status) {
  call.RefuseBody(StreamRefusalResponse(status, call.form));
}

}  // namespace

void CallStream(rpc::InnerChannel& channel, Call call) {
  auto message = OpenOnlyEnvelope(call.request.body);
  if (!message.ok()) return Refuse(call, message.status());
  const auto bytes = ToBytes(*std::move(message), call.form, *call.method->input_type());
  if (!bytes.ok()) return Refuse(call, bytes.status());
  std::make_shared<StreamCall>(std::move(call))->Start(channel, *bytes);
}

}  // namespace skiplane::http::connect
