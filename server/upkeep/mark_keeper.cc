#include "server/upkeep/mark_keeper.h"

#include <thread>
#include <utility>

#include "server/base/mutex.h"
#include "server/base/status_macros.h"
#include "server/store/peers.h"

namespace skiplane::upkeep {
namespace {

constexpr std::chrono::seconds kFirstAfter(1);
constexpr std::chrono::milliseconds kEvery(500);
constexpr std::chrono::seconds kPatience(1);  // of who waits for the end of a mark

}  // namespace

struct MarkKeeper::State {
  void Loop();
  // Waits until a mark is due; returns false when the thread shall end.
  bool WaitForTurn();
  // Whether it was made.
  absl::StatusOr<bool> Mark();
  void Use(std::unique_ptr<pg::Session> other);

  pg::ConnectOptions connect;
  pg::Uuid broker_id{};

  base::Mutex mutex;
  base::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  bool is_marking ABSL_GUARDED_BY(mutex) = false;
  std::optional<SteadyTime> due ABSL_GUARDED_BY(mutex);  // while a chore runs
  Marks marks ABSL_GUARDED_BY(mutex);
  std::unique_ptr<pg::Session> session;  // the thread's; changed under the mutex, for Stop()
  std::thread thread;
};

void MarkKeeper::State::Loop() {
  while (WaitForTurn()) {
    const absl::StatusOr<bool> is_made = Mark();
    if (!is_made.ok()) Use(nullptr);
    base::MutexLock lock(mutex);
    is_marking = false;
    if (!is_made.ok()) {
      marks = {std::nullopt, true};
    } else if (*is_made) {
      marks = {std::chrono::steady_clock::now(), false};
    }
    if (due.has_value()) due = std::chrono::steady_clock::now() + kEvery;
    changed.NotifyAll();
  }
  Use(nullptr);
}

bool MarkKeeper::State::WaitForTurn() {
  base::MutexLock lock(mutex);
  while (!stopping && (!due.has_value() || std::chrono::steady_clock::now() < *due)) {
    if (due.has_value()) {
      changed.WaitUntil(mutex, *due);
    } else {
      session.reset();  // the next long chore may be far away
      changed.Wait(mutex);
    }
  }
  is_marking = !stopping;
  return !stopping;
}

absl::StatusOr<bool> MarkKeeper::State::Mark() {
  if (session == nullptr || !session->alive()) {
    ASSIGN_OR_RETURN(auto opened, pg::Session::Open(connect, nullptr));
    Use(std::move(opened));
  }
  return store::KeepMark(*session, broker_id);
}

void MarkKeeper::State::Use(std::unique_ptr<pg::Session> other) {
  base::MutexLock lock(mutex);
  session = std::move(other);
  if (session != nullptr && stopping) session->EndWithin(absl::ZeroDuration());
}

MarkKeeper::MarkKeeper(pg::ConnectOptions connect, const pg::Uuid& broker_id)
    : state_(std::make_unique<State>()) {
  state_->connect = std::move(connect);
  state_->broker_id = broker_id;
}

MarkKeeper::~MarkKeeper() { Stop(); }

void MarkKeeper::Start() {
  if (state_->thread.joinable()) return;
  {
    base::MutexLock lock(state_->mutex);
    state_->stopping = false;
  }
  state_->thread = std::thread([state = state_.get()] { state->Loop(); });
}

void MarkKeeper::Begin() {
  base::MutexLock lock(state_->mutex);
  state_->marks = {};
  state_->due = std::chrono::steady_clock::now() + kFirstAfter;
  state_->changed.NotifyAll();
}

MarkKeeper::Marks MarkKeeper::End() {
  base::MutexLock lock(state_->mutex);
  state_->due.reset();
  state_->changed.NotifyAll();
  const SteadyTime end = std::chrono::steady_clock::now() + kPatience;
  while (state_->is_marking && std::chrono::steady_clock::now() < end) {
    state_->changed.WaitUntil(state_->mutex, end);
  }
  if (state_->is_marking && state_->session != nullptr) {
    state_->session->EndWithin(absl::ZeroDuration());
  }
  if (state_->is_marking) state_->marks = {std::nullopt, true};
  return state_->marks;
}

void MarkKeeper::Stop() {
  {
    base::MutexLock lock(state_->mutex);
    state_->stopping = true;
    if (state_->session != nullptr) state_->session->EndWithin(absl::ZeroDuration());
    state_->changed.NotifyAll();
  }
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace skiplane::upkeep
