#include "server/rpc/serve/flood_watch.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/base/log.h"

namespace skiplane::rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kEveryMs = 25;
constexpr int kPauseFactor = 10;  // looking takes a tenth of the time at most
constexpr std::chrono::seconds kMeasureEvery(1);
constexpr std::chrono::seconds kTrimEvery(2);

// What is allowed to be there takes so much.
constexpr int64_t kConnectionBytes = 25 << 10;
constexpr int64_t kWaitingCallBytes = 18 << 10;
// From so many on they are no part of what a calm broker has anyway.
constexpr int64_t kFewConnections = 200;

// As gRPC spells it: a URI.
std::string GrpcAddress(const net::SocketAddress& peer) {
  const std::string text = peer.Text();
  if (!absl::StartsWith(text, "[")) return absl::StrCat("ipv4:", text);
  constexpr absl::string_view kMapped = "[::ffff:";
  if (absl::StartsWith(text, kMapped)) {
    return absl::StrCat("ipv4:",
                        absl::StrReplaceAll(text.substr(kMapped.size()), {{"]", ""}}));
  }
  return absl::StrCat("ipv6:", absl::StrReplaceAll(text, {{"[", "%5B"}, {"]", "%5D"}}));
}

// Of the process; 0 if the kernel does not say.
int64_t MemoryOf(int statm_fd) {
  char text[128] = "";
  if (pread(statm_fd, text, sizeof(text) - 1, 0) <= 0) return 0;
  int64_t pages = 0;
  static const int64_t page = sysconf(_SC_PAGESIZE);
  return std::sscanf(text, "%*d %ld", &pages) == 1 ? pages * page : 0;
}

// That this thread was given: on a busy machine all else takes long, too.
milliseconds OwnTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return milliseconds(time.tv_sec * 1000 + time.tv_nsec / 1000000);
}

}  // namespace

FloodWatch::FloodWatch(const net::OpenConnections& open, CallTally& tally,
                       const InFlight& in_flight, metrics::Metrics& metrics)
    : open_(open),
      tally_(tally),
      in_flight_(in_flight),
      metrics_(metrics),
      end_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { Run(); });
}

FloodWatch::~FloodWatch() {
  eventfd_write(end_fd_, 1);
  thread_.join();
  close(end_fd_);
}

void FloodWatch::Run() {
  const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  pollfd end = {end_fd_, POLLIN, 0};
  int pause_ms = kEveryMs;
  while (poll(&end, 1, pause_ms) == 0) {
    const SteadyTime begin = steady_clock::now();
    const milliseconds worked = OwnTime();
    const int64_t memory = MemoryOf(statm) - Allowed();
    if (memory > kCalmBytes) {
      MeasureAll(begin);
      LookForFloods(memory, begin);
      Trim(begin);
    } else if (begin >= measure_due_) {
      MeasureAll(begin);
    }
    const milliseconds took = OwnTime() - worked;
    pause_ms = std::max(kEveryMs, kPauseFactor * static_cast<int>(took.count()));
  }
  close(statm);
}

int64_t FloodWatch::Allowed() const {
  return in_flight_.parked() * kWaitingCallBytes +
         std::max<int64_t>(open_.count() - kFewConnections, 0) * kConnectionBytes;
}

void FloodWatch::MeasureAll(SteadyTime now) {
  measure_due_ = now + kMeasureEvery;
  for (const net::Connection& connection : open_.List()) {
    Watched& watched = watched_[connection.socket];
    if (watched.is_cut) {
      watched.is_seen = watched.connection.Peer().has_value();
      continue;
    }
    if (watched.address.empty()) {
      const auto peer = connection.Peer();
      if (!peer) continue;
      watched.connection = connection;
      watched.address = GrpcAddress(*peer);
      watched.moved = now;
    }
    watched.is_seen = Measure(&watched, now);
  }
  absl::erase_if(watched_, [this](auto& entry) {
    Watched& watched = entry.second;
    const bool has_ended = !std::exchange(watched.is_seen, false);
    if (has_ended) {
      tally_.Forget(watched.address);
      streams_.Forget(watched.address);
    }
    return has_ended;
  });
}

bool FloodWatch::Measure(Watched* watched, SteadyTime now) {
  const auto received = watched->connection.BytesReceived();
  if (!received) return false;
  const auto calls = tally_.Find(watched->address);
  const int64_t explained = calls == nullptr ? 0 : calls->bytes.load();
  const int64_t came = static_cast<int64_t>(*received) - watched->received;
  const int64_t known = explained - watched->explained;
  watched->received = static_cast<int64_t>(*received);
  watched->explained = explained;
  watched->bytes = std::max<int64_t>(watched->bytes + came - known, 0);
  if (known > 0 || watched->bytes == 0) watched->moved = now;
  return true;
}

void FloodWatch::LookForFloods(int64_t memory, SteadyTime now) {
  streams_.Refresh();
  std::vector<Held> held;
  std::vector<Watched*> whose;
  for (auto& [number, watched] : watched_) {
    if (watched.is_cut) continue;  // what it left goes as the calls that it began end
    held.push_back(Judge(&watched, now));
    whose.push_back(&watched);
  }
  for (const FloodCut& cut : WhomToCut(held, memory)) {
    Cut(*whose[cut.index], held[cut.index], cut.reason);
  }
}

Held FloodWatch::Judge(Watched* watched, SteadyTime now) {
  Held held;
  const bool is_idle = std::exchange(watched->judged, watched->received) == watched->received;
  if (is_idle && watched->streams == 0) return held;
  held.bytes = watched->bytes;
  held.stalled = absl::FromChrono(now - watched->moved);
  if (const auto counts = streams_.Of(watched->address)) {
    const auto calls = tally_.Find(watched->address);
    const int64_t waited_for = calls == nullptr ? 0 : calls->calls.load();
    held.streams = std::max<int64_t>(counts->held() - waited_for, 0);
    held.resets = counts->failed - watched->failed > counts->answered - watched->answered;
    watched->streams = counts->held();
    watched->failed = counts->failed;
    watched->answered = counts->answered;
    // Neither headers nor bodies are under way: what came is gone, whatever it was.
    if (held.streams == 0) held.bytes = watched->bytes = 0;
  }
  return held;
}

void FloodWatch::Cut(Watched& watched, const Held& held, absl::string_view reason) {
  if (!watched.connection.Abort()) return;
  watched.is_cut = true;
  metrics_.ConnectionCut(reason);
  if (!may_log_.Allows(steady_clock::now())) return;
  base::Log(base::LogLevel::kWarn, "connection_cut",
            {{"peer", watched.address},
             {"reason", std::string(reason)},
             {"streams", absl::StrCat(held.streams)},
             {"bytes", absl::StrCat(held.bytes)},
             {"received", absl::StrCat(watched.received)},
             {"left_out", absl::StrCat(may_log_.TakeLeftOut())},
             {"why", "memory is short, and this caller holds what no call accounts for: resets, "
                     "headers or bodies that do not end, or answers that it does not read"}});
}

// What a flood has left is free but still the allocator's.
void FloodWatch::Trim(SteadyTime now) {
  if (now < trim_due_) return;
  trim_due_ = now + kTrimEvery;
  malloc_trim(0);
}

}  // namespace skiplane::rpc
