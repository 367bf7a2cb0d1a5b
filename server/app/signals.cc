#include "server/app/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"

namespace skiplane::app {
namespace {

int BlockAndOpen() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

}  // namespace

Signals::Signals()
    : signal_fd_(BlockAndOpen()),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

Signals::~Signals() {
  eventfd_write(stop_fd_, 1);
  thread_.join();
  close(signal_fd_);
  close(stop_fd_);
}

Signals::Request Signals::Next() {
  base::MutexLock lock(mutex_);
  while (!reload_ && end_signal_ == 0) came_.Wait(mutex_);
  if (end_signal_ != 0) return {end_signal_};
  reload_ = false;
  return {};
}

void Signals::Run() {
  pollfd both[] = {{stop_fd_, POLLIN, 0}, {signal_fd_, POLLIN, 0}};
  while (both[0].revents == 0) {
    signalfd_siginfo taken{};
    if (poll(both, 2, -1) > 0 && both[1].revents != 0 &&
        read(signal_fd_, &taken, sizeof(taken)) == sizeof(taken)) {
      Take(static_cast<int>(taken.ssi_signo));
    }
  }
}

void Signals::Take(int signal) {
  if (signal != SIGHUP) {
    TakeEnd(signal);
    return;
  }
  AskReload();
}

void Signals::AskReload() {
  base::MutexLock lock(mutex_);
  reload_ = true;
  came_.NotifyAll();
}

bool Signals::IsEndAsked() {
  base::MutexLock lock(mutex_);
  return end_signal_ != 0;
}

void Signals::TakeEnd(int signal) {
  const EndRequests::Kind kind = ends_.Add(std::chrono::steady_clock::now());
  if (kind == EndRequests::Kind::kRepeat) return;
  if (kind == EndRequests::Kind::kAtOnce) {
    base::Log(base::LogLevel::kWarn, "ended_at_once",
              {{"signal", absl::StrCat(signal)},
               {"why", "a second signal to end came: what was under way is cut off"}});
    base::FlushLog();
    _exit(1);
  }
  base::MutexLock lock(mutex_);
  end_signal_ = signal;
  came_.NotifyAll();
}

}  // namespace skiplane::app
