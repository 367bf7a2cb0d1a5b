#include "server/rpc/serve/flood_rules.h"

#include <algorithm>
#include <limits>

#include "server/model/limits.h"

namespace skiplane::rpc {
namespace {

constexpr int64_t kMiB = 1 << 20;

// What all connections may hold together when one has to go, and what one may hold in any case.
constexpr int64_t kStreamsTogether = 3000;
constexpr int64_t kBytesTogether = 64 * kMiB;
constexpr int64_t kGivenUpTogether = 1000;
constexpr int64_t kUnreadMax = 16 << 10;
constexpr int64_t kBytesMax = 64 * kMiB;
constexpr int64_t kBytesBesideRequests = kMiB;
constexpr absl::Duration kStalledMax = absl::Seconds(30);
constexpr int64_t kStalledBytes = 256 << 10;

// A quarter of what is there before nobody gets any more: it is made free before others wait for
// it. Who reads at all has read something meanwhile.
constexpr int64_t kAnswersTogether = model::kAnswerBytesMax / 4;
constexpr absl::Duration kReadNothingMax = absl::Seconds(2);

// How much a connection has to hold to be cut for it, by how short memory is.
struct Patience {
  int64_t memory;  // up to here
  int64_t streams;
  int64_t resets;
  absl::Duration stalled;
};

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
constexpr int64_t kResetStreams = 128;
const Patience kPatience[] = {
    {192 * kMiB, 2000, 64, absl::Seconds(10)},
    {256 * kMiB, 2000, 32, absl::Seconds(10)},
    {320 * kMiB, 1000, 16, absl::Seconds(2)},
    {400 * kMiB, 128, 8, absl::Seconds(1)},
    {kUnbounded, 32, 4, absl::ZeroDuration()},
};

const Patience& PatienceAt(int64_t memory) {
  const auto suits = [&](const Patience& one) { return memory <= one.memory; };
  return *std::ranges::find_if(kPatience, suits);
}

template <typename Of>
std::vector<size_t> BySize(const std::vector<Of>& held, auto size_of) {
  std::vector<size_t> order(held.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](size_t a, size_t b) { return size_of(held[a]) > size_of(held[b]); });
  return order;
}

// A worker that shuts down gives up thousands of calls at once. It holds no more than it was let
// have with them.
int64_t FloodStreams(const Held& one) { return one.streams - one.leaving; }

class Cuts {
 public:
  // `streams`: that are there however many are cut.
  Cuts(const std::vector<Held>& held, int64_t streams)
      : held_(held), is_cut_(held.size()), streams_(streams) {
    for (const Held& one : held) {
      streams_ += FloodStreams(one);
      bytes_ += one.bytes;
    }
  }

  void Add(size_t index, absl::string_view reason) {
    if (is_cut_[index]) return;
    is_cut_[index] = true;
    streams_ -= FloodStreams(held_[index]);
    bytes_ -= held_[index].bytes;
    cuts_.push_back({index, reason});
  }

  int64_t streams() const { return streams_; }
  int64_t bytes() const { return bytes_; }
  std::vector<FloodCut> Take() { return std::move(cuts_); }

 private:
  const std::vector<Held>& held_;
  std::vector<bool> is_cut_;
  int64_t streams_;  // of those that are left
  int64_t bytes_ = 0;
  std::vector<FloodCut> cuts_;
};

bool IsKnown(const Held& one) { return one.answered > one.given_up; }

// What no caller does that keeps to the limits of calls. Who was cut connects again to do the same.
void CutExcess(const std::vector<Held>& held, Cuts* cuts) {
  for (size_t i = 0; i < held.size(); ++i) {
    const int64_t requests = held[i].streams * model::kRequestBytesMax + kBytesBesideRequests;
    const bool begins_anew = held[i].is_suspect && !IsKnown(held[i]);
    const int64_t most = begins_anew ? kStalledBytes : std::min(kBytesMax, requests);
    if (held[i].bytes > most) cuts->Add(i, "bytes");
    if (held[i].stalled >= kStalledMax && held[i].bytes >= kStalledBytes) cuts->Add(i, "stalled");
  }
}

// What they leave behind takes memory until it was worked off: so it does not help to wait for the
// largest of them, as with streams.
void CutResets(const std::vector<Held>& held, const Patience& patience, Cuts* cuts) {
  for (size_t i = 0; i < held.size(); ++i) {
    if (held[i].resets > patience.resets) cuts->Add(i, "resets");
  }
}

// While there is enough to do for nobody, of those that were cut, nobody's first calls are so many.
void CutUnread(const std::vector<Held>& held, Cuts* cuts) {
  for (size_t i = 0; i < held.size(); ++i) {
    if (!IsKnown(held[i]) && held[i].unread > kUnreadMax) cuts->Add(i, "unread");
  }
}

void CutStreams(const std::vector<Held>& held, const Patience& patience, Cuts* cuts) {
  for (const size_t i : BySize(held, FloodStreams)) {
    if (cuts->streams() <= kStreamsTogether) return;
    const int64_t streams = FloodStreams(held[i]);
    const bool is_trusted = held[i].resets == 0 && held[i].answered >= streams;
    const int64_t most =
        is_trusted ? patience.streams : std::min(kResetStreams, patience.streams);
    if (streams > most) cuts->Add(i, "streams");
  }
}

// The longer one is stalled, the sooner it goes: who is about to finish is spared.
void CutBytes(const std::vector<Held>& held, const Patience& patience, Cuts* cuts) {
  const auto weight = [](const Held& one) {
    return static_cast<double>(one.bytes) * (1 + absl::ToDoubleSeconds(one.stalled));
  };
  for (const size_t i : BySize(held, weight)) {
    if (cuts->bytes() <= kBytesTogether) return;
    if (held[i].bytes > kStalledBytes && held[i].stalled >= patience.stalled) {
      cuts->Add(i, "memory");
    }
  }
}

int64_t Together(const std::vector<Unread>& unread) {
  int64_t bytes = 0;
  for (const Unread& one : unread) bytes += one.bytes;
  return bytes;
}

}  // namespace

std::vector<FloodCut> WhomToCut(const std::vector<Held>& held, const Pressure& pressure) {
  const Patience& patience = PatienceAt(pressure.memory);
  Cuts cuts(held, pressure.streams);
  CutExcess(held, &cuts);
  if (pressure.given_up > kGivenUpTogether) CutResets(held, patience, &cuts);
  if (pressure.streams > kRemainsMax) CutUnread(held, &cuts);
  CutStreams(held, patience, &cuts);
  CutBytes(held, patience, &cuts);
  return cuts.Take();
}

bool IsCrowded(const std::vector<Unread>& unread) { return Together(unread) > kAnswersTogether; }

std::vector<size_t> WhoReadsNothing(const std::vector<Unread>& unread) {
  int64_t together = Together(unread);
  // Who has a small one may have read it: a busy broker is told of that late.
  const int64_t readers = std::ranges::count_if(unread, [](const Unread& one) {
    return one.bytes > 0;
  });
  const int64_t small = together / std::max<int64_t>(2 * readers, 1);
  std::vector<size_t> cut;
  for (const size_t i : BySize(unread, [](const Unread& one) { return one.bytes; })) {
    if (together <= kAnswersTogether) break;
    if (unread[i].bytes <= small || unread[i].stalled < kReadNothingMax) continue;
    together -= unread[i].bytes;
    cut.push_back(i);
  }
  return cut;
}

}  // namespace skiplane::rpc
