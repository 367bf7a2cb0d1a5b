#include "server/pg/conflicts.h"

#include <algorithm>
#include <random>
#include <thread>

#include "server/base/reason.h"
#include "server/pg/errors.h"

namespace skiplane::pg {
namespace {

constexpr int kTriesMax = 10;
constexpr std::chrono::seconds kTimeMax(5);
constexpr int kPauseMaxMs = 64;

std::chrono::microseconds Pause(int tries) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const int most = std::min(1 << tries, kPauseMaxMs) * 1000;
  return std::chrono::microseconds(std::uniform_int_distribution<int>(0, most)(random));
}

}  // namespace

bool IsConflict(const absl::Status& status) {
  return absl::IsAborted(status) && base::ReasonOf(status) == "TRANSACTION_CONFLICT" &&
         !IsLockTimeout(status);
}

bool ConflictBudget::Spend(const absl::Status& status) {
  if (!IsConflict(status) || spent_ >= kTriesMax) return false;
  if (std::chrono::steady_clock::now() - began_ >= kTimeMax) return false;
  // The first one is tried at once: nearly always the other has committed by now.
  if (spent_++ > 0) std::this_thread::sleep_for(Pause(spent_));
  return true;
}

}  // namespace skiplane::pg
