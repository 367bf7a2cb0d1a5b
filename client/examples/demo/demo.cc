#include "client/examples/demo/demo.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/examples/demo/child.h"
#include "client/examples/demo/files.h"
#include "client/examples/demo/ledger.h"
#include "client/examples/demo/progress.h"
#include "skiplane/client.h"

namespace skiplane::demo {
namespace {

constexpr size_t kTasksPerCall = 1000;
constexpr size_t kKeyBytesMax = 255;
constexpr double kKillAtShare = 0.2;
constexpr absl::Duration kGiveUpAfter = absl::Minutes(2);  // without any progress
constexpr int kPollMs = 100;

// The path, if it may be a key: then a second run of this call would make no second task.
std::string KeyOf(const std::string& path) {
  const bool is_key = path.size() <= kKeyBytesMax &&
                      std::all_of(path.begin(), path.end(), [](char c) {
                        return absl::ascii_isprint(static_cast<unsigned char>(c));
                      });
  return is_key ? path : std::string();
}

class Demo {
 public:
  Demo(Options options, Client client, const std::vector<std::string>& paths)
      : options_(std::move(options)),
        client_(std::move(client)),
        paths_(paths),
        ledger_(paths),
        is_kill_due_(options_.kill_one) {}

  absl::Status Run() {
    absl::Status status = Enqueue();
    if (status.ok()) status = StartWorkers();
    if (status.ok()) status = Process();
    StopWorkers();
    return status;
  }

  // Prints the figures; returns whether nothing was lost.
  bool Prove() const;

 private:
  absl::Status Enqueue();
  absl::Status StartWorkers();
  // Returns when the queue says that all tasks have succeeded and all files are reported.
  absl::Status Process();
  void ReadReports();
  void KillOne();
  absl::StatusOr<bool> IsQueueDone();
  void StopWorkers();

  const Options options_;
  Client client_;
  const std::vector<std::string>& paths_;
  Ledger ledger_;
  Progress progress_;
  std::vector<Child> children_;
  QueueCounts counts_;
  absl::Time begin_;
  absl::Duration elapsed_;
  bool is_kill_due_;
  int64_t held_by_killed_ = 0;
};

absl::Status Demo::Enqueue() {
  if (const auto queue = client_.CreateQueue(options_.queue); !queue.ok()) return queue.status();
  const absl::Time begin = absl::Now();
  for (size_t first = 0; first < paths_.size(); first += kTasksPerCall) {
    EnqueueCall call{.queue = options_.queue};
    const size_t end = std::min(first + kTasksPerCall, paths_.size());
    for (size_t i = first; i < end; ++i) {
      call.tasks.push_back({.payload = paths_[i], .key = KeyOf(paths_[i])});
    }
    if (const auto results = client_.Enqueue(std::move(call)); !results.ok()) {
      return results.status();
    }
    progress_.Show(absl::StrFormat("enqueued %d of %d", end, paths_.size()));
  }
  progress_.Say(absl::StrFormat("%d files are tasks in queue %s, committed in %.1f s",
                                paths_.size(), options_.queue,
                                absl::ToDoubleSeconds(absl::Now() - begin)));
  return absl::OkStatus();
}

absl::Status Demo::StartWorkers() {
  for (int i = 0; i < options_.workers; ++i) {
    auto child = Child::Start(WorkerArguments(options_, Child::kReportFd));
    if (!child.ok()) return child.status();
    children_.push_back(*std::move(child));
  }
  return absl::OkStatus();
}

absl::Status Demo::Process() {
  begin_ = absl::Now();
  absl::Time last_news = begin_;
  while (true) {
    const int64_t attempts_before = ledger_.attempts_done();
    ReadReports();
    if (ledger_.attempts_done() > attempts_before) last_news = absl::Now();
    const double share = static_cast<double>(ledger_.files_done()) /
                         static_cast<double>(ledger_.files());
    if (is_kill_due_ && share >= kKillAtShare) KillOne();
    progress_.Show(absl::StrFormat(
        "%d of %d files (%.0f %%), %.0f/s, %d attempts", ledger_.files_done(), ledger_.files(),
        100 * share,
        static_cast<double>(ledger_.files_done()) / absl::ToDoubleSeconds(absl::Now() - begin_),
        ledger_.attempts_done()));
    if (ledger_.files_done() == ledger_.files()) {
      if (elapsed_ == absl::ZeroDuration()) elapsed_ = absl::Now() - begin_;
      const absl::StatusOr<bool> is_done = IsQueueDone();
      if (!is_done.ok()) return is_done.status();
      if (*is_done) return absl::OkStatus();
    }
    if (absl::Now() - last_news > kGiveUpAfter) {
      return absl::DeadlineExceededError("nothing was processed for two minutes");
    }
  }
}

void Demo::ReadReports() {
  std::vector<pollfd> fds;
  for (const Child& child : children_) fds.push_back({child.report_fd(), POLLIN, 0});
  poll(fds.data(), fds.size(), kPollMs);
  for (size_t i = 0; i < children_.size(); ++i) {
    for (const Record& record : children_[i].Read()) ledger_.Add(i, record);
  }
}

void Demo::KillOne() {
  for (size_t i = 0; i < children_.size() && is_kill_due_; ++i) {
    Child& child = children_[i];
    // Stopped first, so that it cannot finish what it holds while its last words are read.
    child.Signal(SIGSTOP);
    child.WaitUntilStopped();
    for (const Record& record : child.Read()) ledger_.Add(i, record);
    if (ledger_.Running(i) == 0) {
      child.Signal(SIGCONT);
      continue;
    }
    held_by_killed_ = ledger_.Running(i);
    progress_.Say(absl::StrFormat("kill -9 %d: a worker in the middle of %d files", child.pid(),
                                  held_by_killed_));
    child.Signal(SIGKILL);
    child.Wait();
    is_kill_due_ = false;
  }
}

absl::StatusOr<bool> Demo::IsQueueDone() {
  const auto queue = client_.GetQueue(options_.queue);
  if (!queue.ok()) return queue.status();
  counts_ = queue->counts;
  return counts_.scheduled + counts_.ready + counts_.leased == 0;
}

void Demo::StopWorkers() {
  for (const Child& child : children_) child.Signal(SIGTERM);
  for (Child& child : children_) child.Wait();
}

bool Demo::Prove() const {
  const std::vector<std::string> missing = ledger_.Missing();
  for (const std::string& path : missing) std::cout << "LOST " << path << "\n";
  const double seconds = absl::ToDoubleSeconds(elapsed_);
  std::cout << absl::StrFormat(
      "files       %d processed of %d, %d of them could not be read\n"
      "attempts    %d done for %d files; %d files ran twice; %d attempts were repeats\n"
      "queue       %d succeeded, %d failed, %d left\n"
      "work        %d words in %.1f MB\n"
      "throughput  %.0f files/s with %d workers in %.1f s\n",
      ledger_.files_done(), ledger_.files(), ledger_.files_unreadable(), ledger_.attempts_done(),
      ledger_.files_done(), ledger_.files_done_again(), ledger_.attempts_repeated(),
      counts_.succeeded, counts_.failed, counts_.scheduled + counts_.ready + counts_.leased,
      ledger_.words(), static_cast<double>(ledger_.bytes()) / 1e6,
      static_cast<double>(ledger_.files_done()) / seconds, options_.workers, seconds);
  if (is_kill_due_) std::cout << "No worker was killed: there were too few files.\n";
  const bool is_whole = missing.empty() && ledger_.contradictions() == 0 && counts_.failed == 0 &&
                        counts_.succeeded == ledger_.files();
  std::cout << (is_whole ? "Nothing was lost.\n" : "THE PROOF FAILED.\n");
  return is_whole;
}

}  // namespace

int RunDemo(const Options& given) {
  Options options = given;
  if (options.queue.empty()) {
    options.queue = absl::StrCat("demo-", absl::ToUnixSeconds(absl::Now()), "-", getpid());
  }
  const std::vector<std::string> paths = ListFiles(options.roots);
  if (paths.empty()) {
    std::cerr << "skiplane-demo: no files below the roots\n";
    return 2;
  }
  auto client = Client::Connect({.addresses = {options.address}});
  if (!client.ok()) return std::cerr << client.status() << "\n", 1;
  Demo demo(options, *client, paths);
  if (const absl::Status status = demo.Run(); !status.ok()) {
    std::cerr << "skiplane-demo: " << status << "\n";
    return 1;
  }
  return demo.Prove() ? 0 : 1;
}

}  // namespace skiplane::demo
