#include "server/http/byte_budget.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/log.h"

namespace skiplane::http {
namespace {

constexpr std::chrono::seconds kLogEvery(10);

}  // namespace

ByteBudget::Account::~Account() {
  base::MutexLock lock(budget_.mutex_);
  budget_.Change(*this, -bytes_, false);
}

void ByteBudget::Account::OnGivenUp(std::function<void()> give_up) {
  base::MutexLock lock(budget_.mutex_);
  give_up_ = std::move(give_up);
}

void ByteBudget::Account::Hold(int64_t bytes) {
  GiveUps give_ups;
  {
    base::MutexLock lock(budget_.mutex_);
    budget_.Change(*this, bytes, false);
    if (bytes > 0) give_ups = budget_.MakeRoom();
  }
  for (const auto& give_up : give_ups) give_up();
}

void ByteBudget::Account::Taken(int64_t bytes) {
  base::MutexLock lock(budget_.mutex_);
  budget_.Change(*this, -bytes, true);
}

ByteBudget::Bodies ByteBudget::HoldBody(const std::string& party, int64_t bytes) {
  if (bytes == 0) return Bodies::kRoom;
  bodies_ += bytes;
  bytes_ += bytes;
  metrics_.HttpBodyHeld(bytes);
  int64_t of_party = 0;
  {
    base::MutexLock lock(mutex_);
    const auto found = bodies_of_.try_emplace(party, 0).first;
    of_party = found->second += bytes;
    if (of_party == 0) bodies_of_.erase(found);
  }
  const int64_t max = max_ / 2;
  if (bodies_ >= max || !HasRoom()) return Bodies::kFull;
  return of_party >= max * address_share_ / 100 && address_share_ < 100 ? Bodies::kAddressIsFull
                                                                        : Bodies::kRoom;
}

void ByteBudget::Change(Account& account, int64_t bytes, bool has_taken) {
  account.bytes_ += bytes;
  bytes_ += bytes;
  if (account.is_given_up_) {
    given_up_ += bytes;
  } else {
    Place(account, has_taken);
  }
}

void ByteBudget::Place(Account& account, bool has_taken) {
  if (account.is_queued_ && (has_taken || account.bytes_ == 0)) {
    waiting_.erase(account.place_);
    account.is_queued_ = false;
  }
  if (account.is_queued_ || account.bytes_ == 0) return;
  account.place_ = waiting_.insert(waiting_.end(), &account);
  account.is_queued_ = true;
}

ByteBudget::GiveUps ByteBudget::MakeRoom() {
  GiveUps give_ups;
  while (bytes_ - given_up_ >= max_ && !waiting_.empty()) {
    Account& slowest = *waiting_.front();
    waiting_.pop_front();
    slowest.is_queued_ = false;
    slowest.is_given_up_ = true;
    given_up_ += slowest.bytes_;
    ++callers_given_up_;
    bytes_given_up_ += slowest.bytes_;
    if (slowest.give_up_) give_ups.push_back(slowest.give_up_);
  }
  LogGivenUp();
  return give_ups;
}

void ByteBudget::LogGivenUp() {
  const auto now = std::chrono::steady_clock::now();
  if (callers_given_up_ == 0 || now < may_log_) return;
  may_log_ = now + kLogEvery;
  base::Log(base::LogLevel::kWarn, "slow_readers_cut_off",
            {{"port", port_},
             {"connections", absl::StrCat(std::exchange(callers_given_up_, 0))},
             {"bytes", absl::StrCat(std::exchange(bytes_given_up_, 0))},
             {"why", "their answers were not read, and there was no room for others"}});
}

}  // namespace skiplane::http
