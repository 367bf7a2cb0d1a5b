#include "client/cli/work/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_split.h"
#include "client/cli/base/steady_now.h"
#include "client/cli/work/group_keeper.h"
#include "client/cli/work/progress.h"
#include "client/cli/work/spawn.h"

namespace skiplane::cli {
namespace {

constexpr absl::Duration kPollAtMost = absl::Hours(1);
constexpr int kGroupPauseMs = 20;

// For writing as well: then it never ends, and a program that opens it need not wait.
Descriptor OpenProgress(const std::string& path) {
  return path.empty() ? Descriptor()
                      : Descriptor(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

// One run, while it lasts.
class Running {
 public:
  Running(const Program& program, Spawned spawned)
      : program_(program),
        child_(std::move(spawned)),
        wake_(eventfd(0, EFD_CLOEXEC)),
        progress_(OpenProgress(program.progress_path)),
        end_time_(SteadyNow() + program.timeout) {}

  ~Running() {
    if (program_.keeper != nullptr) program_.keeper->Ended(child_.pid);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  ProgramEnd Finish(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] {
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
    });
    bool has_ended = false;
    while (!has_ended) has_ended = Wait(stop);
    siginfo_t end{};
    waitid(P_PID, static_cast<id_t>(child_.pid), &end, WEXITED);
    if (is_stopping_) EndGroup();
    // What it left in the pipes; a grandchild may hold them open, so nobody waits for their end.
    ReadAll();
    if (end.si_code == CLD_EXITED) {
      end_.exit_code = end.si_status;
    } else {
      end_.signal = end.si_status;
    }
    return std::move(end_);
  }

 private:
  // One round: true when the program has ended.
  bool Wait(const std::stop_token& stop) {
    std::array<pollfd, 6> waited{pollfd{child_.end.get(), POLLIN, 0},
                                 pollfd{child_.input.get(), POLLOUT, 0},
                                 pollfd{child_.output.get(), POLLIN, 0},
                                 pollfd{child_.error.get(), POLLIN, 0},
                                 pollfd{is_stopping_ ? -1 : wake_.get(), POLLIN, 0},
                                 pollfd{progress_.get(), POLLIN, 0}};
    poll(waited.data(), waited.size(), TimeToWait());
    if (waited[1].revents != 0) Write();
    if (waited[2].revents != 0 || waited[3].revents != 0) ReadAll();
    if (waited[5].revents != 0) ReadProgress();
    if (waited[0].revents != 0) return true;
    const bool is_late = !is_stopping_ && SteadyNow() >= end_time_;
    if (is_late) end_.has_timed_out = true;
    if (is_late || is_stopping_ || stop.stop_requested()) Stop();
    return false;
  }

  int TimeToWait() const {
    const absl::Duration next = is_stopping_ ? kill_time_ : end_time_;
    if (is_killed_ || next == absl::InfiniteDuration()) return -1;
    const absl::Duration rest = std::clamp(next - SteadyNow(), absl::ZeroDuration(), kPollAtMost);
    return static_cast<int>(absl::ToInt64Milliseconds(rest) + 1);
  }

  // The leader is gone. Others of the group have what is left of the time to end; the number of a
  // group that lives is given to no other process.
  void EndGroup() {
    std::array<pollfd, 2> waited{pollfd{child_.output.get(), POLLIN, 0},
                                 pollfd{child_.error.get(), POLLIN, 0}};
    while (kill(-child_.pid, 0) == 0) {
      if (SteadyNow() >= kill_time_) {
        kill(-child_.pid, SIGKILL);
        return;
      }
      poll(waited.data(), waited.size(), kGroupPauseMs);
      ReadAll();
      waited[0].fd = child_.output.get();
      waited[1].fd = child_.error.get();
    }
  }

  void ReadAll() {
    Read(child_.output, [this](const char* data, size_t size) { AddOutput(data, size); });
    Read(child_.error, [this](const char* data, size_t size) { AddError(data, size); });
  }

  void ReadProgress() {
    Read(progress_, [this](const char* data, size_t size) {
      auto progress = progress_lines_.Add(absl::string_view(data, size));
      if (progress) program_.on_progress(*std::move(progress));
    });
  }

  void Stop() {
    if (!is_stopping_) {
      is_stopping_ = true;
      kill(-child_.pid, SIGTERM);
      kill_time_ = SteadyNow() + program_.kill_after;
    } else if (!is_killed_ && SteadyNow() >= kill_time_) {
      is_killed_ = true;
      kill(-child_.pid, SIGKILL);
    }
  }

  void Write() {
    const absl::string_view rest = absl::string_view(program_.input).substr(written_);
    const ssize_t count = rest.empty() ? 0 : write(child_.input.get(), rest.data(), rest.size());
    if (count > 0) written_ += static_cast<size_t>(count);
    // A program that does not read all of it has read enough.
    const bool is_broken = count < 0 && errno != EAGAIN && errno != EINTR;
    if (is_broken || written_ == program_.input.size()) child_.input.Close();
  }

  template <typename Take>
  static void Read(Descriptor& stream, Take take) {
    std::array<char, 16384> buffer;
    while (stream.is_open()) {
      const ssize_t count = read(stream.get(), buffer.data(), buffer.size());
      if (count > 0) {
        take(buffer.data(), static_cast<size_t>(count));
      } else if (count < 0 && errno == EINTR) {
        continue;
      } else if (count < 0 && errno == EAGAIN) {
        return;
      } else {
        stream.Close();
      }
    }
  }

  void AddOutput(const char* data, size_t size) {
    const size_t room = kOutputBytesMax + 1 - end_.output.size();
    end_.output.append(data, std::min(size, room));
  }

  void AddError(const char* data, size_t size) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, data, size);
    end_.error_tail.append(data, size);
    if (end_.error_tail.size() > kErrorTailBytes) {
      end_.error_tail.erase(0, end_.error_tail.size() - kErrorTailBytes);
    }
  }

  const Program& program_;
  Spawned child_;
  const Descriptor wake_;
  Descriptor progress_;
  ProgressLines progress_lines_;
  const absl::Duration end_time_;
  bool is_stopping_ = false;
  bool is_killed_ = false;
  absl::Duration kill_time_ = absl::InfiniteDuration();
  size_t written_ = 0;
  ProgramEnd end_;
};

}  // namespace

ProgramEnd RunProgram(const Program& program, const std::stop_token& stop) {
  Spawned spawned = Spawn(program);
  if (spawned.pid == 0) return {.start_error = std::strerror(spawned.error_number)};
  return Running(program, std::move(spawned)).Finish(stop);
}

bool IsRunnable(const std::string& name) {
  const auto may_run = [](const std::string& path) {
    return access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path);
  };
  if (name.find('/') != std::string::npos) return may_run(name);
  const char* const path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    if (may_run(std::string(folder.empty() ? "." : folder) + "/" + name)) return true;
  }
  return false;
}

}  // namespace skiplane::cli
