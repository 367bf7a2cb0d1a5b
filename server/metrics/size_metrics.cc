#include "server/metrics/size_metrics.h"

namespace skiplane::metrics {

SizeMetrics::SizeMetrics(Registry& registry)
    : bytes_(NewGauge(registry, "skiplane_db_table_bytes",
                      "Space on the disk of a table with its partitions, by part.")),
      dead_(NewGauge(registry, "skiplane_db_table_dead_rows",
                     "Rows that vacuum has not cleared away yet, as PostgreSQL estimates.")),
      database_(NewGauge(registry, "skiplane_db_bytes",
                         "Space on the disk of the whole database.")
                    .Add({})) {}

void SizeMetrics::SetTable(absl::string_view table, const TableGauges& gauges) {
  base::MutexLock lock(mutex_);
  Series& series = SeriesOf(table);
  series.rows.Set(static_cast<double>(gauges.row_bytes));
  series.toast.Set(static_cast<double>(gauges.toast_bytes));
  series.indexes.Set(static_cast<double>(gauges.index_bytes));
  series.dead.Set(static_cast<double>(gauges.dead_rows));
}

void SizeMetrics::SetDatabase(int64_t bytes) { database_.Set(static_cast<double>(bytes)); }

SizeMetrics::Series& SizeMetrics::SeriesOf(absl::string_view table) {
  const std::string name(table);
  const auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  const auto part = [&](const char* text) -> Gauge& {
    return bytes_.Add({{"table", name}, {"part", text}});
  };
  return tables_
      .emplace(name, Series{part("rows"), part("toast"), part("indexes"),
                            dead_.Add({{"table", name}})})
      .first->second;
}

}  // namespace skiplane::metrics
