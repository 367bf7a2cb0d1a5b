// What the C++ client costs its process, and how much it gets done, at a broker that runs:
//
//   skiplane_client_bench ADDRESS enqueue|enqueue-calls THREADS SECONDS
//   skiplane_client_bench ADDRESS work|work-calls THREADS SECONDS PREFETCH
//
// Each thread enqueues one task at a time and waits for it; or a worker's handlers do nothing. By
// calls means without a stream: enqueues without request ids, and a burst. It prints tasks a
// second, and microseconds of CPU and switches of threads per task, after a first second.
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "skiplane/worker.h"

namespace skiplane {
namespace {

constexpr char kQueue[] = "client_bench";
constexpr int64_t kTasksPerSecond = 40'000;  // that wait for a worker; above what it gets done

struct Usage {
  double cpu_us = 0;
  double switches = 0;
  absl::Time at{};
};

Usage Used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const absl::Duration cpu =
      absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
  return {absl::ToDoubleMicroseconds(cpu),
          static_cast<double>(usage.ru_nvcsw + usage.ru_nivcsw), absl::Now()};
}

void Wait(absl::Duration duration) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  never.wait_for(lock, absl::ToChronoNanoseconds(duration), [] { return false; });
}

int Fail(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

void Measure(const std::atomic<int64_t>& tasks, absl::Duration duration) {
  Wait(absl::Seconds(1));
  const int64_t first = tasks;
  const Usage begin = Used();
  Wait(duration);
  const auto done = static_cast<double>(tasks - first);
  const Usage end = Used();
  std::cout << absl::StreamFormat("%.0f tasks/s, %.1f us of CPU and %.2f switches per task\n",
                                  done / absl::ToDoubleSeconds(end.at - begin.at),
                                  (end.cpu_us - begin.cpu_us) / done,
                                  (end.switches - begin.switches) / done);
}

int Enqueue(Client client, bool by_calls, int threads, absl::Duration duration) {
  std::atomic<int64_t> tasks = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, own = client]() mutable {
      while (!is_over) {
        const auto made = own.Enqueue({.queue = kQueue,
                                       .tasks = {{.payload = std::string(200, 'x')}},
                                       .without_request_id = by_calls});
        if (!made.ok()) return void(Fail(made.status()));
        ++tasks;
      }
    });
  }
  Measure(tasks, duration);
  is_over = true;
  return 0;
}

int Work(Client client, bool by_calls, int threads, absl::Duration duration, int prefetch) {
  const int64_t count = kTasksPerSecond * (1 + absl::ToInt64Seconds(duration));
  for (int64_t i = 0; i < count; i += 1000) {
    const auto made = client.Enqueue(
        {.queue = kQueue,
         .tasks = std::vector<NewTask>(1000, {.payload = std::string(200, 'x')})});
    if (!made.ok()) return Fail(made.status());
  }
  std::atomic<int64_t> tasks = 0;
  const auto worker = Worker::Start(
      client,
      {.queues = {{.name = kQueue}},
       .concurrency = threads,
       .prefetch = prefetch,
       .burst = by_calls},
      [&tasks](const LeasedTask&, Attempt&) {
        ++tasks;
        return Result::Done();
      });
  if (!worker.ok()) return Fail(worker.status());
  Measure(tasks, duration);
  return 0;
}

int Main(const std::vector<std::string>& arguments) {
  int threads = 0;
  int seconds = 0;
  int prefetch = 0;
  if (arguments.size() < 4 || !absl::SimpleAtoi(arguments[2], &threads) ||
      !absl::SimpleAtoi(arguments[3], &seconds) ||
      (arguments.size() > 4 && !absl::SimpleAtoi(arguments[4], &prefetch))) {
    std::cerr << "skiplane_client_bench ADDRESS MODE THREADS SECONDS [PREFETCH]\n";
    return 2;
  }
  const std::string& mode = arguments[1];
  auto client = Client::Connect({.addresses = {arguments[0]}});
  if (!client.ok()) return Fail(client.status());
  const auto queue = client->CreateQueue(kQueue);
  if (!queue.ok()) return Fail(queue.status());
  const bool by_calls = mode == "enqueue-calls" || mode == "work-calls";
  return mode.rfind("enqueue", 0) == 0
             ? Enqueue(*client, by_calls, threads, absl::Seconds(seconds))
             : Work(*client, by_calls, threads, absl::Seconds(seconds), prefetch);
}

}  // namespace
}  // namespace skiplane

int main(int argc, char** argv) { return skiplane::Main({argv + 1, argv + argc}); }
