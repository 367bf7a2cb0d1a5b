#include "client/examples/demo/worker_process.h"

#include <signal.h>
#include <sys/prctl.h>

#include <iostream>
#include <mutex>

#include "client/examples/demo/digest.h"
#include "client/examples/demo/record.h"
#include "skiplane/worker.h"

namespace skiplane::demo {
namespace {

// Files are small: without some tasks in advance the handlers would mostly wait for the network.
constexpr int kPrefetch = 100;

class Handling {
 public:
  explicit Handling(int report_fd) : report_fd_(report_fd) {}

  Result operator()(const LeasedTask& task) {
    Record record{.path = task.payload, .attempt = task.attempt};
    if (!Tell(record)) return Result::Release();
    record.digest = DigestFile(task.payload);
    return Tell(record) ? Result::Done() : Result::Release();
  }

 private:
  bool Tell(const Record& record) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return WriteLine(report_fd_, ToLine(record));
  }

  const int report_fd_;
  std::mutex mutex_;  // lines stay whole
};

void PrintError(const absl::Status& status) {
  std::cerr << "worker: " + status.ToString() + "\n";
}

}  // namespace

int RunWorkerProcess(const Options& options) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGPIPE, SIG_IGN);
  // Blocked before the first thread starts, so that only sigwait takes it.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  auto client = Client::Connect({.addresses = {options.address}});
  if (!client.ok()) return PrintError(client.status()), 1;
  Handling handling(*options.report_fd);
  auto worker = Worker::Start(
      *client,
      {.queues = {{.name = options.queue}},
       .concurrency = options.threads,
       .prefetch = kPrefetch,
       .lease_duration = absl::Seconds(options.lease_seconds),
       .on_error = PrintError},
      [&handling](const LeasedTask& task, Attempt&) { return handling(task); });
  if (!worker.ok()) return PrintError(worker.status()), 1;
  int signal_number = 0;
  sigwait(&stop, &signal_number);
  (*worker)->Stop();
  return 0;
}

}  // namespace skiplane::demo
