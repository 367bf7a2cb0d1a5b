// The way to the services of this process. A call that begins on gRPC's channel after the server
// behind it has shut down ends the process (gRPC 1.51: it calls what takes new calls, which is gone
// by then). So who ends the server closes this first. Thread-safe.
#pragma once

#include <memory>
#include <utility>

#include <grpcpp/channel.h>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"

namespace skiplane::rpc {

class InnerChannel {
 public:
  using ChannelPtr = std::shared_ptr<grpc::Channel>;

  explicit InnerChannel(ChannelPtr channel) : channel_(std::move(channel)) {}
  InnerChannel(const InnerChannel&) = delete;
  InnerChannel& operator=(const InnerChannel&) = delete;

  // Has `begin` begin a call. False, without it, once this is closed.
  bool Begin(absl::FunctionRef<void(const ChannelPtr&)> begin) {
    {
      base::MutexLock lock(mutex_);
      if (is_closed_) return false;
      ++beginning_;
    }
    begin(channel_);
    base::MutexLock lock(mutex_);
    if (--beginning_ == 0 && is_closed_) begun_.NotifyAll();
    return true;
  }

  // When it returns no call is beginning, and none will. Those that have begun go on.
  void Close() {
    base::MutexLock lock(mutex_);
    is_closed_ = true;
    while (beginning_ > 0) begun_.Wait(mutex_);
  }

 private:
  const ChannelPtr channel_;
  base::Mutex mutex_;
  base::CondVar begun_;
  int beginning_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace skiplane::rpc
