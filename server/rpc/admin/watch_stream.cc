#include "server/rpc/admin/watch_stream.h"

#include <string>
#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include "server/base/status_macros.h"
#include "server/rpc/admin/convert_admin.h"
#include "server/rpc/admin/convert_queue.h"
#include "server/rpc/call/call_wire.h"
#include "server/rpc/call/check.h"
#include "server/rpc/call/permit.h"
#include "server/rpc/call/status.h"

namespace skiplane::rpc {
namespace {

void WriteChanges(broker::QueueChanges* changes, v1::WatchResponse* response) {
  for (const broker::SummaryPtr& summary : changes->changed) {
    WriteSummary(*summary, response->add_summaries());
  }
  for (std::string& queue : changes->removed) response->add_removed_queues(std::move(queue));
  response->set_more_follows(changes->has_more);
}

}  // namespace

void WatchStream::Begin(const grpc::ByteBuffer& request) {
  const absl::Status status = Start(request);
  if (status.ok()) return Ask();
  EndWith(status);
  Release();
}

absl::Status WatchStream::Start(const grpc::ByteBuffer& request) {
  RETURN_IF_ERROR(Admit());
  RETURN_IF_ERROR(CheckRequestSize(request.Length()));
  CountRead(static_cast<int64_t>(request.Length()));
  v1::WatchRequest message;
  RETURN_IF_ERROR(ParseMessage(request, &message));
  ASSIGN_OR_RETURN(broker::WatchCall call, ReadWatch(&message));
  RETURN_IF_ERROR(Permit(admitted_.grants, &call));
  NameCaller(*this, call);
  call.permit_now = [this] { return PermitNow(); };
  std::shared_ptr<broker::QueueWatcher> watcher = operator_.Watch(std::move(call));
  base::MutexLock lock(mutex_);
  watcher_ = std::move(watcher);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const broker::Permit>> WatchStream::PermitNow() {
  ASSIGN_OR_RETURN(const access::Admitted admitted, AdmitAgain());
  if (permit_ == nullptr || !(admitted.grants == permitted_)) {
    permitted_ = admitted.grants;
    permit_ = std::make_shared<const broker::Permit>(
        PermitFor(permitted_, access::Verb::kRead, ""));
  }
  return permit_;
}

void WatchStream::Ask() {
  std::shared_ptr<broker::QueueWatcher> watcher;
  bool is_ending = false;
  {
    base::MutexLock lock(mutex_);
    watcher = watcher_;
    is_ending = is_ending_;
  }
  if (!is_ending) {
    return watcher->Next([this](absl::StatusOr<broker::QueueChanges> changes) {
      Tell(std::move(changes));
    });
  }
  watcher->End();  // it may have begun to watch after its end was told
  Release();
}

void WatchStream::Tell(absl::StatusOr<broker::QueueChanges> changes) {
  if (!changes.ok()) {
    EndWith(changes.status());
    return Release();
  }
  v1::WatchResponse response;
  WriteChanges(&*changes, &response);
  memory_ = std::move(changes->memory);
  bool own_buffer = false;
  message_.Clear();
  const grpc::Status written =
      grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(
          response, &message_, &own_buffer);
  static_cast<void>(written);  // a message of ours is always one
  BeginWrite(static_cast<int64_t>(message_.Length()));
  StartWrite(&message_);
}

void WatchStream::OnWriteDone(bool ok) {
  EndWrite(static_cast<int64_t>(message_.Length()), ok);
  message_.Clear();
  memory_.reset();
  if (!ok) EndWith(absl::CancelledError("the caller has left"), true);
  Ask();
}

void WatchStream::OnCancel() { EndWith(absl::CancelledError("the caller has left"), true); }

void WatchStream::EndWith(absl::Status end, bool is_broken) {
  std::shared_ptr<broker::QueueWatcher> watcher;
  {
    base::MutexLock lock(mutex_);
    is_broken_ = is_broken_ || is_broken;
    if (std::exchange(is_ending_, true)) return;
    end_ = std::move(end);
    ++under_way_;  // so that it is there until the watcher has ended
    watcher = watcher_;
  }
  if (watcher != nullptr) watcher->End();
  Release();
}

void WatchStream::Release() {
  absl::Status end;
  {
    base::MutexLock lock(mutex_);
    if (--under_way_ > 0) return;
    end = end_;
  }
  TellEnd(end);
  Finish(ToGrpc(end));
}

void WatchStream::OnDone() {
  absl::Status end;
  bool is_broken = false;
  {
    base::MutexLock lock(mutex_);
    end = end_;
    is_broken = is_broken_;
  }
  const Left left = Leave(end, is_broken);
  delete this;
  left.End();
}

}  // namespace skiplane::rpc
