// What signals ask of the process. SIGTERM and SIGINT: end in order; another one later (see
// EndRequests): end at once, with code 1. SIGHUP: reload; it never ends the process.
//
// A thread of its own takes them at any time, so that the second request to end is heard during a
// long start and a long drain, too.
#pragma once

#include <optional>
#include <thread>

#include "server/app/end_requests.h"
#include "server/base/mutex.h"

namespace skiplane::app {

class Signals {
 public:
  // Before any other thread starts, so that all leave the signals to this one.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  struct Request {
    int end_signal = 0;  // 0: reload
  };
  // As SIGHUP does. From any thread.
  void AskReload();

  // Waits for the next request. Several reloads may be one; after a request to end comes none.
  Request Next();

  // Whether a request to end has come. From any thread.
  bool IsEndAsked();

 private:
  void Run();
  void Take(int signal);
  void TakeEnd(int signal);

  const int signal_fd_;
  const int stop_fd_;
  base::Mutex mutex_;
  base::CondVar came_;
  bool reload_ ABSL_GUARDED_BY(mutex_) = false;
  int end_signal_ ABSL_GUARDED_BY(mutex_) = 0;
  EndRequests ends_;  // of the thread
  std::thread thread_;
};

}  // namespace skiplane::app
