#include <algorithm>
#include <limits>
#include <utility>

#include "server/model/limits.h"
#include "server/rpc/broker/work_stream.h"
#include "server/rpc/call/check.h"

namespace skiplane::rpc {

absl::Status WorkStream::TakeCredit(const v1::WorkRequest& request) {
  absl::Status status;
  Update([&] {
    if (request.withdraw_credit()) {
      withdrawn_ = withdrawn_.value_or(0) + std::exchange(credit_, 0);
    }
    status = CheckNumber(request.credit(), {0, model::kCreditMax - credit_}, {"credit"});
    if (status.ok()) credit_ += request.credit();
    AnswerWithdrawn();
    CountCredit();
  });
  if (request.withdraw_credit()) EndFetch();
  return status;
}

// A Lease that is under way may still bring tasks for what is taken back.
void WorkStream::AnswerWithdrawn() {
  if (!withdrawn_.has_value() || is_fetching_) return;
  const int64_t not_sent = response()->withdrawn_credit();  // of one before
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  response()->set_withdrawn_credit(
      static_cast<int32_t>(std::min(not_sent + *withdrawn_, kMost)));
  withdrawn_.reset();
  CountCredit();
}

void WorkStream::SpendCredit(int64_t tasks) {
  const int64_t of_withdrawn = std::min(withdrawn_.value_or(0), tasks);
  if (withdrawn_.has_value()) *withdrawn_ -= of_withdrawn;
  credit_ -= std::min(credit_, tasks - of_withdrawn);
  CountCredit();
}

void WorkStream::CountCredit() {
  const int64_t credit = credit_ + withdrawn_.value_or(0);
  if (credit != counted_credit_) metrics().AddStreamCredit(credit - counted_credit_);
  counted_credit_ = credit;
}

WorkStream::~WorkStream() {
  workers_.Remove(this);
  credit_ = 0;
  withdrawn_.reset();
  CountCredit();
}

}  // namespace skiplane::rpc
