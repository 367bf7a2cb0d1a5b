// The store's harness with workers that have sessions and can fall silent. Not thread-safe.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "server/metrics/metrics.h"
#include "server/store/sessions.h"
#include "server/upkeep/reclaimer.h"
#include "tests/store/store_harness.h"

namespace skiplane::testing {

class UpkeepHarness : public StoreHarness {
 protected:
  using StoreHarness::StoreHarness;

  // A living session of that worker, for an hour.
  pg::Uuid Worker(const std::string& name) {
    const store::Touch touch{name, name, model::NewSessionId(), absl::Hours(1),
                             absl::ZeroDuration()};
    return Required(store::TouchSessions(*session_, {touch})).front().id;
  }

  // Lets the time-out of that worker pass without a heartbeat.
  void Silence(const std::string& name) const {
    Sql(absl::StrCat("UPDATE skiplane.worker_session SET expire_time = now() - interval '1 s' "
                     "WHERE worker_id = '",
                     name, "'"));
  }

  // It ends its session; upkeep looks for what it holds at once.
  void End(const std::string& name) {
    Required(store::EndSessions(*session_, {{name, absl::ZeroDuration()}}));
    Sql("UPDATE skiplane.worker_session SET check_time = now() WHERE state = 3");
  }

  // As if somebody had removed its row by hand.
  void DeleteSession(const std::string& name) const {
    Sql(absl::StrCat("DELETE FROM skiplane.worker_session WHERE worker_id = '", name, "'"));
  }

  int64_t Sessions() const { return Number("SELECT count(*) FROM skiplane.worker_session"); }
  int64_t LedgerRows() const { return Number("SELECT count(*) FROM skiplane.lease_ledger"); }
  int64_t LostAttempts() const {
    return Number("SELECT count(*) FROM skiplane.history WHERE error_type = 'LEASE_LOST'");
  }
  int64_t Tasks(const std::string& condition) const {
    return Number(absl::StrCat("SELECT count(*) FROM skiplane.task WHERE ", condition));
  }

  // Makes every statement fail that frees a lost task of that lane.
  void BreakReclaimIn(int64_t lane) const {
    Sql(absl::StrCat("ALTER TABLE skiplane.task ADD CONSTRAINT broken CHECK (lane <> ", lane,
                     " OR error_type IS NULL)"));
  }
  void RepairReclaim() const { Sql("ALTER TABLE skiplane.task DROP CONSTRAINT broken"); }

  // Passes before which nobody was away, until nothing is left; their sum. One, on a machine that
  // is not too slow for it.
  upkeep::ReclaimResult Reclaim() {
    upkeep::ReclaimResult sum;
    for (bool is_complete = false; !is_complete;) {
      const upkeep::ReclaimResult pass = Required(reclaimer_.RunOnce(*session_, false));
      sum.spared += pass.spared;
      sum.lost += pass.lost;
      sum.freed += pass.freed;
      sum.failed += pass.failed;
      sum.handed_back += pass.handed_back;
      sum.forgotten += pass.forgotten;
      is_complete = pass.is_complete;
    }
    return sum;
  }

  metrics::Metrics metrics_{"test", "test"};
  upkeep::Reclaimer reclaimer_{UuidOf(200), &metrics_};
};

}  // namespace skiplane::testing
