// One worker process and the pipe on which it reports. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/examples/demo/record.h"

namespace skiplane::demo {

class Child {
 public:
  // Starts this program again, with `arguments`; the child reports on kReportFd.
  static absl::StatusOr<Child> Start(const std::vector<std::string>& arguments);
  static constexpr int kReportFd = 3;

  // Kills a child that still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // -1 once the child closed it.
  int report_fd() const { return report_fd_; }

  // Returns what can be read without waiting. A line that was cut by the child's death is dropped.
  std::vector<Record> Read();

  void Signal(int number) const;
  // Waits until the child is stopped by SIGSTOP.
  void WaitUntilStopped() const;
  // Waits for the end; true if the child ended by itself with exit code 0.
  bool Wait();

 private:
  Child(pid_t pid, int report_fd) : pid_(pid), report_fd_(report_fd) {}

  pid_t pid_;  // -1 once it has been waited for
  int report_fd_;
  std::string unread_;
};

}  // namespace skiplane::demo
