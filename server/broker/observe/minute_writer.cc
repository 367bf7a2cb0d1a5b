#include "server/broker/observe/minute_writer.h"

#include <chrono>
#include <random>
#include <utility>

#include "server/store/reports.h"

namespace skiplane::broker {
namespace {

constexpr std::chrono::minutes kWrittenEvery(1);
// Of a database that does not answer: what came ten minutes ago goes first.
constexpr size_t kPartsMax = 10;

int64_t DrawNumber() {
  std::random_device device;
  return static_cast<int64_t>(uint64_t{device()} << 32 | device());
}

}  // namespace

void MinuteWriter::Start() {
  context_.timer.After(kWrittenEvery, [this] {
    Flush();
    Start();
  });
}

void MinuteWriter::Flush() {
  Gather();
  auto write = [this](absl::StatusOr<pg::Session*> session) {
    if (session.ok()) Write(**session);
  };
  context_.pool.Submit(std::move(write), {"minutes"});
}

void MinuteWriter::Gather() {
  Part part{DrawNumber(), context_.minutes->Take()};
  if (part.entries.empty()) return;
  const base::MutexLock lock(mutex_);
  parts_.push_back(std::move(part));
  if (parts_.size() > kPartsMax) parts_.pop_front();
}

void MinuteWriter::Write(pg::Session& session) {
  std::deque<Part> parts;
  {
    const base::MutexLock lock(mutex_);
    parts.swap(parts_);
  }
  while (!parts.empty()) {
    if (!store::AddMinutes(session, parts.front().entries, parts.front().number).ok()) break;
    parts.pop_front();
  }
  const base::MutexLock lock(mutex_);
  parts_.insert(parts_.begin(), std::make_move_iterator(parts.begin()),
                std::make_move_iterator(parts.end()));
}

}  // namespace skiplane::broker
