#include "server/metrics/database_metrics.h"

namespace skiplane::metrics {
namespace {

Buckets StatementBuckets() {
  return {0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
}

constexpr absl::string_view kOutages[] = {
    "DATABASE_UNAVAILABLE", "DATABASE_READ_ONLY",    "DATABASE_NOT_DURABLE",
    "DATABASE_DISTRIBUTED", "POOLER_NOT_SUPPORTED",  "SYNCHRONOUS_STANDBY_AWAY",
    "DATABASE_PERMISSION_DENIED",
};

}  // namespace

DatabaseMetrics::DatabaseMetrics(Registry& registry)
    : statements_(NewHistogram(registry, "skiplane_db_statement_seconds",
                               "Time of one statement, from sending it to its result."),
                  {"statement", {}, StatementBuckets()}),
      errors_(NewCounter(registry, "skiplane_db_errors_total",
                         "Errors of the database, by the first two characters of the SQLSTATE."),
              {"sqlstate_class", {}, {}}),
      connections_(NewGauge(registry, "skiplane_db_pool_connections",
                            "Open connections that run statements."),
                   {"state", {}, {}}, {"idle", "busy"}),
      waiting_jobs_(NewGauge(registry, "skiplane_db_pool_waiting_statements",
                             "Statements that wait for a connection.")
                        .Add({})),
      notifications_(NewCounter(registry, "skiplane_db_notifications_total",
                                "Wake-ups exchanged with other brokers by NOTIFY."),
                     {"direction", {}, {}}, {"sent", "received"}),
      outage_(NewGauge(registry, "skiplane_db_outage",
                       "1 for the reason why no connection to the database works."),
              {"reason", {}, {}}),
      clock_steps_(NewCounter(registry, "skiplane_db_clock_steps_total",
                              "Times that the database's clock was seen to go back.")
                       .Add({})),
      clock_step_seconds_(NewCounter(registry, "skiplane_db_clock_step_seconds_total",
                                     "By how much the database's clock went back, in total.")
                              .Add({})),
      up_(NewGauge(registry, "skiplane_db_up",
                   "1 while a connection to the database works.")
              .Add({})) {
  SetOutage("");
}

void DatabaseMetrics::Statement(absl::string_view name, absl::Duration duration) {
  statements_.At(name).Observe(absl::ToDoubleSeconds(duration));
}

void DatabaseMetrics::Error(absl::string_view sqlstate_class) {
  errors_.At(sqlstate_class).Increment();
}

void DatabaseMetrics::SetPool(int64_t connections, int64_t idle, int64_t waiting_jobs) {
  connections_.At("idle").Set(static_cast<double>(idle));
  connections_.At("busy").Set(static_cast<double>(connections - idle));
  waiting_jobs_.Set(static_cast<double>(waiting_jobs));
}

void DatabaseMetrics::SetUp(bool up) { up_.Set(up ? 1 : 0); }

void DatabaseMetrics::Notification(absl::string_view result) {
  notifications_.At(result).Increment();
}

void DatabaseMetrics::SetOutage(absl::string_view reason) {
  for (const absl::string_view each : kOutages) outage_.At(each).Set(each == reason ? 1 : 0);
}

void DatabaseMetrics::ClockStep(absl::Duration back) {
  clock_steps_.Increment();
  clock_step_seconds_.Increment(absl::ToDoubleSeconds(back));
}

}  // namespace skiplane::metrics
