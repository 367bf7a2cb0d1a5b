#include "tests/bench/load/sql_tasks.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "absl/time/clock.h"

namespace skiplane::bench {
namespace {

constexpr int kBodies = 1024;  // as in kPayloadBodies

int64_t ReadInt8(const char* at) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(value); ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return static_cast<int64_t>(value);
}

}  // namespace

void MakePayloadBodies(const BrokerRun& broker) {
  if (broker.Sql("SELECT to_regclass('bench_body')") != "") return;
  std::string rows;
  for (int n = 0; n < kBodies; ++n) {
    const PayloadBody body = NewPayloadBody();
    absl::StrAppend(&rows, n == 0 ? "" : ", ", "(", n, ", '\\x", absl::BytesToHexString(body.bytes),
                    "', ", body.check, ")");
  }
  broker.Sql("CREATE TABLE bench_body (place int PRIMARY KEY, bytes bytea, sum int8)");
  broker.Sql(absl::StrCat("INSERT INTO bench_body VALUES ", rows));
  broker.Sql("VACUUM ANALYZE bench_body");
}

std::string SqlPayload(absl::string_view number) {
  return absl::Substitute(
      "int8send(($0)::int8) || int8send(0) || body.bytes || int8send(body.sum # ($0)::int8)",
      number);
}

std::vector<int64_t> ReadSqlTasks(Stage& stage, const pg_result* rows, Latencies* latencies) {
  const absl::Time now = absl::Now();
  std::vector<int64_t> ids;
  for (int row = 0; row < PQntuples(rows); ++row) {
    ids.push_back(ReadInt8(PQgetvalue(rows, row, 0)));
    const auto payload = stage.Read({PQgetvalue(rows, row, 1),
                                     static_cast<size_t>(PQgetlength(rows, row, 1))});
    if (!payload) return {};
    if (latencies != nullptr) latencies->Add(now - payload->begin);
  }
  return ids;
}

}  // namespace skiplane::bench
