#include "server/app/doctor/doctor.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "server/app/database/database.h"
#include "server/app/doctor/finding.h"
#include "server/app/doctor/machine_looks.h"
#include "server/app/doctor/queries.h"
#include "server/base/status_macros.h"
#include "server/pg/migrate/migrator.h"
#include "server/pg/session.h"

namespace skiplane::app {
namespace {

using Findings = std::vector<Finding>;

absl::Status Ask(pg::Session& session, const char* query, Findings* findings) {
  ASSIGN_OR_RETURN(const pg::Rows rows, session.RunText(query));
  for (int row = 0; row < rows.size(); ++row) {
    Finding& finding = findings->emplace_back();
    finding.what = std::string(rows.Text(row, 0));
    finding.found = std::string(rows.Text(row, 2));
    if (rows.IsNull(row, 1) || rows.Int(row, 1) == 0) continue;
    finding.severity = static_cast<Severity>(rows.Int(row, 1));
    finding.advice = std::string(rows.Text(row, 3));
  }
  return absl::OkStatus();
}

absl::Status LookAtClock(pg::Session& session, Findings* findings) {
  const absl::Time before = absl::Now();
  ASSIGN_OR_RETURN(
      const pg::Rows rows,
      session.RunText("SELECT (date_part('epoch', clock_timestamp()) * 1e6)::int8"));
  findings->push_back(LookAtClocks(before, rows.Micros(0, 0), absl::Now()));
  return absl::OkStatus();
}

absl::Status LookAtSchema(pg::Session& session, Findings* findings) {
  ASSIGN_OR_RETURN(const int version, pg::SchemaVersion(session));
  const int latest = pg::LatestSchemaVersion();
  Finding finding{"schema", Severity::kFine, absl::StrCat("version ", version), ""};
  if (version > latest) {
    finding.severity = Severity::kWrong;
    finding.advice = absl::StrCat("this skiplaned knows version ", latest, ": use a newer one");
  } else if (version < latest) {
    finding.severity = Severity::kSeeToIt;
    finding.advice = absl::StrCat("skiplaned migrate, or a broker's start, brings it to version ",
                                  latest, "; older brokers go on beside it");
  }
  findings->push_back(std::move(finding));
  // Of another version they may have other columns.
  return version == latest ? Ask(session, kBrokerLooks, findings) : absl::OkStatus();
}

absl::Status LookAtDatabase(const pg::ConnectOptions& connect, Findings* findings) {
  ASSIGN_OR_RETURN(const std::unique_ptr<pg::Session> session, pg::Session::Open(connect, nullptr));
  RETURN_IF_ERROR(Ask(*session, kDatabaseLooks, findings));
  RETURN_IF_ERROR(LookAtClock(*session, findings));
  return LookAtSchema(*session, findings);
}

void Print(const Finding& finding) {
  constexpr const char* kWords[] = {"ok", "see to it", "wrong"};
  std::cout << absl::StreamFormat("%-10s %s: %s\n", kWords[static_cast<int>(finding.severity)],
                                  finding.what, finding.found);
  if (!finding.advice.empty()) std::cout << "           " << finding.advice << "\n";
}

}  // namespace

absl::Status Examine(const config::Config& config) {
  ASSIGN_OR_RETURN(const Database database, ReachDatabase(config));
  Findings findings = {LookAtDescriptors(config)};
  if (!config.embedded_dir.empty()) findings.push_back(LookAtDisk(config.embedded_dir));
  const absl::Status looked = LookAtDatabase(database.connect, &findings);
  int wrong = 0;
  int to_see_to = 0;
  for (const Finding& finding : findings) {
    Print(finding);
    wrong += finding.severity == Severity::kWrong ? 1 : 0;
    to_see_to += finding.severity == Severity::kSeeToIt ? 1 : 0;
  }
  std::cout << findings.size() << " looked at, " << to_see_to << " to see to, " << wrong << " wrong"
            << (looked.ok() ? "" : "; the rest could not be looked at") << "\n" << std::flush;
  RETURN_IF_ERROR(looked);  // what was found until then is often why
  if (wrong == 0) return absl::OkStatus();
  return absl::FailedPreconditionError("a broker cannot serve well like this: see above");
}

}  // namespace skiplane::app
