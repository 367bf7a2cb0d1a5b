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
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/base/log.h"

namespace skiplane::rpc {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

// A flood grows by hundreds of calls in a few milliseconds.
constexpr int kEveryMs = 25;
constexpr int kEveryMsOfFlood = 4;
constexpr int kPauseFactor = 10;  // looking takes a tenth of the time at most
constexpr std::chrono::seconds kMeasureEvery(1);
constexpr std::chrono::milliseconds kMeasureCrowdedEvery(250);
constexpr std::chrono::seconds kTrimEvery(2);
constexpr std::chrono::seconds kSweepEvery(10);

// After a cut so many connections of suspects are handed on as often as this; as long as more than
// kRemainsMax calls of connections that were cut are not ended, more rarely.
constexpr int64_t kRation = 2;
constexpr std::chrono::milliseconds kAcceptEvery(50);
constexpr std::chrono::milliseconds kAcceptRarelyEvery(500);

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

// A sanitizer keeps what was freed, and notes on each byte.
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kTimesTheMemory = 8;
#else
constexpr int64_t kTimesTheMemory = 1;
#endif

// Of the process; 0 if the kernel does not say.
int64_t MemoryOf(int statm_fd) {
  char text[128] = "";
  if (pread(statm_fd, text, sizeof(text) - 1, 0) <= 0) return 0;
  int64_t pages = 0;
  static const int64_t page = sysconf(_SC_PAGESIZE);
  return std::sscanf(text, "%*d %ld", &pages) == 1 ? pages * page / kTimesTheMemory : 0;
}

// That this thread was given: on a busy machine all else takes long, too.
microseconds OwnTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return microseconds(time.tv_sec * 1000000 + time.tv_nsec / 1000);
}

}  // namespace

FloodWatch::FloodWatch(net::Acceptor& acceptor, CallTally& tally, const InFlight& in_flight,
                       metrics::Metrics& metrics)
    : acceptor_(acceptor),
      open_(acceptor.connections()),
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
  while (poll(&end, 1, pause_ms) <= 0) {
    const SteadyTime begin = steady_clock::now();
    const microseconds worked = OwnTime();
    const int64_t memory = MemoryOf(statm) - Allowed();
    const bool is_calm = memory <= kCalmBytes;
    bool is_flood = false;
    if (!is_calm || begin >= measure_due_) MeasureAll(begin, is_calm);
    if (is_calm) {
      Ration(0, begin);
    } else {
      is_flood = LookForFloods(memory, begin);
      Trim(begin);
    }
    const int64_t took = (OwnTime() - worked).count();
    pause_ms = std::max(is_flood ? kEveryMsOfFlood : kEveryMs,
                        static_cast<int>(kPauseFactor * took / 1000));
  }
  close(statm);
}

int64_t FloodWatch::Allowed() const {
  return in_flight_.parked() * kWaitingCallBytes +
         std::max<int64_t>(open_.count() - kFewConnections, 0) * kConnectionBytes;
}

void FloodWatch::MeasureAll(SteadyTime now, bool is_calm) {
  measure_due_ = now + kMeasureEvery;
  for (const net::Connection& connection : open_.List()) Measure(connection, now, is_calm);
  absl::erase_if(watched_, [](auto& entry) { return !entry.second.TakeSeen(); });
  CutWhoReadsNothing(now);
  SweepIfDue(now);
}

void FloodWatch::Measure(const net::Connection& connection, SteadyTime now, bool is_calm) {
  auto found = watched_.find(connection.socket);
  if (found == watched_.end()) {
    const auto peer = connection.Peer();
    if (!peer) return;
    std::string address = GrpcAddress(*peer);
    const CallTally::Counts calls = tally_.Of(address);
    found = watched_.try_emplace(connection.socket, connection, std::move(address), peer->Party(),
                                 calls, now).first;
  }
  WatchedConnection& watched = found->second;
  const auto bytes = watched.connection().BytesSoFar();
  if (!bytes) return;
  watched.SetSeen();
  if (watched.is_cut()) return;
  const CallTally::Counts calls = tally_.Of(watched.address());
  watched.Measure(bytes->received, calls, is_calm, now);
  watched.MeasureAnswers(bytes->acknowledged, calls, now);
}

// Of many connections there is nothing here, but calls: they came and went between two looks.
void FloodWatch::SweepIfDue(SteadyTime now) {
  if (now < sweep_due_) return;
  sweep_due_ = now + kSweepEvery;
  absl::flat_hash_set<absl::string_view> open;
  for (const auto& [number, watched] : watched_) open.insert(watched.address());
  const auto is_open = [&](absl::string_view address) { return open.contains(address); };
  tally_.Sweep(is_open);
  streams_.Sweep(is_open);
}

void FloodWatch::CutWhoReadsNothing(SteadyTime now) {
  std::vector<Unread> unread;
  std::vector<WatchedConnection*> whose;
  for (auto& [number, watched] : watched_) {
    if (watched.is_cut()) continue;
    unread.push_back(watched.JudgeAnswers(now));
    whose.push_back(&watched);
  }
  if (!IsCrowded(unread)) return;
  measure_due_ = now + kMeasureCrowdedEvery;
  for (const size_t i : WhoReadsNothing(unread)) {
    Held held;
    held.bytes = unread[i].bytes;
    Cut(*whose[i], held, "answers");
  }
}

bool FloodWatch::LookForFloods(int64_t memory, SteadyTime now) {
  streams_.Refresh();
  std::vector<Held> held;
  std::vector<WatchedConnection*> whose;
  Pressure pressure{.memory = memory, .given_up = tally_.given_up()};
  for (auto& [number, watched] : watched_) {
    if (!watched.is_cut()) {
      whose.push_back(&watched);
    } else if (const auto left = streams_.Of(watched.address())) {
      pressure.streams += left->held();  // it goes as the calls that it began end
    }
  }
  const bool asks_unread = pressure.streams > kRemainsMax;
  for (WatchedConnection* const watched : whose) held.push_back(Judge(watched, asks_unread, now));
  const std::vector<FloodCut> cuts = WhomToCut(held, pressure);
  for (const FloodCut& cut : cuts) {
    Cut(*whose[cut.index], held[cut.index], cut.reason);
  }
  Ration(pressure.streams, now);
  return pressure.streams > 0 || !cuts.empty();
}

Held FloodWatch::Judge(WatchedConnection* watched, bool asks_unread, SteadyTime now) {
  const int64_t unread = asks_unread ? watched->connection().BytesUnread().value_or(0) : 0;
  std::optional<StreamCounts::Counts> streams;
  if (watched->IsBusy()) streams = streams_.Of(watched->address());
  Held held = watched->Judge(streams, tally_.Of(watched->address()), unread, now);
  held.is_suspect = acceptor_.IsSuspect(watched->party());
  return held;
}

// Who was cut connects again, and what it left is not worked off yet: with more of the same from
// all of them it would never be. Others of its party wait among them.
void FloodWatch::Ration(int64_t remains, SteadyTime now) {
  if (remains == 0 && now >= cut_ + net::Suspects::kFor) {
    acceptor_.Ration(net::Acceptor::kUnbounded);
  } else if (now >= accept_due_) {
    acceptor_.Ration(kRation);
    accept_due_ = now + (remains > kRemainsMax ? kAcceptRarelyEvery : kAcceptEvery);
  }
}

void FloodWatch::Cut(WatchedConnection& watched, const Held& held, absl::string_view reason) {
  if (!watched.connection().Abort()) return;
  acceptor_.Suspect(watched.party());
  cut_ = steady_clock::now();
  watched.SetCut();
  metrics_.ConnectionCut(reason);
  if (!may_log_.Allows(steady_clock::now())) return;
  base::Log(base::LogLevel::kWarn, "connection_cut",
            {{"peer", watched.address()},
             {"reason", std::string(reason)},
             {"streams", absl::StrCat(held.streams)},
             {"bytes", absl::StrCat(held.bytes)},
             {"received", absl::StrCat(watched.received())},
             {"left_out", absl::StrCat(may_log_.TakeLeftOut())},
             {"why", "memory is short, and this caller holds what no call accounts for: resets, "
                     "headers or bodies that do not end, or answers that it does not read; with "
                     "the reason `answers`, what it does not read takes the room of others'"}});
}

// What a flood has left is free but still the allocator's.
void FloodWatch::Trim(SteadyTime now) {
  if (now < trim_due_) return;
  trim_due_ = now + kTrimEvery;
  malloc_trim(0);
}

}  // namespace skiplane::rpc
