// Tasks in packs: made, leased and acked by the store.
#pragma once

#include <vector>

#include "server/store/pack.h"
#include "tests/store/store_harness.h"
#include "tests/support/status_matchers.h"

namespace skiplane::testing {

class PackHarness : public StoreHarness {
 protected:
  // In packs; their ids.
  std::vector<int64_t> Pack(int count, const model::NewTask& like = {}) {
    const std::vector<model::NewTask> tasks(static_cast<size_t>(count), like);
    const std::vector<store::TaskRow> rows = Rows(tasks);
    const auto made = store::EnqueuePacked(*session_, rows, {});
    Require(made.has_value(), "they fill too few packs");
    Required(*made);
    std::vector<int64_t> ids;
    for (const store::TaskRow& row : rows) ids.push_back(row.id.id);
    return ids;
  }

  // The first caller gets so many, then the second, and so on.
  store::Leased Lease(const std::vector<int>& counts) {
    std::vector<int32_t> slots;
    for (size_t i = 0; i < counts.size(); ++i) {
      slots.insert(slots.end(), static_cast<size_t>(counts[i]), static_cast<int32_t>(i) + 1);
    }
    store::LeaseDemand demand = Demand(slots);
    demand.has_packs = true;
    return Required(store::Lease(*session_, demand));
  }

  size_t Ack(const std::vector<model::LeaseToken>& tokens) {
    std::vector<model::LeaseToken> packed, others;
    for (const model::LeaseToken& token : tokens) {
      (token.IsPacked() ? packed : others).push_back(token);
    }
    size_t acked = 0;
    for (const auto& part : {packed, others}) {
      const store::SettleBatch batch = Batch(part, store::Action::kAck);
      acked += Required(store::AckByLocation(*session_, batch)).size();
    }
    return acked;
  }
  int64_t Packs() { return Number("SELECT count(*) FROM skiplane.task_pack"); }
  int64_t InRows() { return Number("SELECT count(*) FROM skiplane.task"); }
};

}  // namespace skiplane::testing
