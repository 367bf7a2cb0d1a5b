#include "server/pg/session.h"

#include <chrono>
#include <pqxx/pqxx>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"
#include "server/metrics/metrics.h"
#include "server/pg/abandoned_backends.h"
#include "server/pg/conninfo.h"
#include "server/pg/errors.h"
#include "server/pg/link.h"
#include "server/pg/rows_state.h"

namespace skiplane::pg {
namespace {

constexpr absl::string_view kTextStatement = "text";
constexpr absl::string_view kRecheckStatement = "recheck";
// Soon at first: a pooler that mixes connections up has others by then.
constexpr std::chrono::seconds kFirstRecheck(1);
constexpr std::chrono::seconds kRecheckEvery(10);

std::vector<pqxx::binarystring> Binary(const std::vector<std::string>& values) {
  std::vector<pqxx::binarystring> binary;
  binary.reserve(values.size());
  for (const std::string& value : values) binary.emplace_back(value);
  return binary;
}

bool IsOfPooler(const absl::Status& status) {
  return base::ReasonOf(status) == "POOLER_NOT_SUPPORTED";
}

}  // namespace

struct Session::State {
  using Clock = std::chrono::steady_clock;
  using Statement = absl::FunctionRef<pqxx::result(pqxx::nontransaction&)>;

  State(std::unique_ptr<Link> opened, const ConnectOptions& options, metrics::Metrics* sink)
      : link(std::move(opened)),
        statement_timeout(options.statement_timeout),
        answer_timeout(options.tcp_user_timeout),
        patience(PatienceFor(statement_timeout)),
        metrics(sink),
        abandoned(options.abandoned) {}

  // What the server was asked to do may go on there.
  ~State() {
    if (abandoned != nullptr && link->watchdog().has_bitten()) abandoned->Add(link->backend());
  }

  struct Prepared {
    bool has_worked = false;
    bool is_stale = false;  // to be prepared anew before it runs again
  };

  Prepared& Prepare(const sql::Query& query);
  void PrepareAnew(const sql::Query& query, Prepared& prepared);
  absl::StatusOr<pqxx::result> Run(absl::string_view name, Prepared& prepared,
                                   Statement statement);
  absl::Status Failed(const Failure& failure);
  absl::Status Recheck();
  absl::Status CheckAbandoned();
  absl::Status CheckSchema();
  // For an answer to a statement of this limit.
  std::chrono::nanoseconds PatienceFor(absl::Duration limit) const {
    return absl::ToChronoNanoseconds(limit + answer_timeout);
  }

  std::unique_ptr<Link> link;
  const absl::Duration statement_timeout;  // as a rule
  const absl::Duration answer_timeout;     // of a server whose time for the statement is over
  std::chrono::nanoseconds patience;
  metrics::Metrics* metrics;
  const std::shared_ptr<AbandonedBackends> abandoned;
  bool broken = false;
  bool shared = false;
  Clock::time_point recheck_at = Clock::now() + kFirstRecheck;
  absl::flat_hash_map<std::string, Prepared> statements;  // by name
};

// libpqxx sends the PREPARE when the statement runs first. What is returned is valid until the next
// statement is prepared.
Session::State::Prepared& Session::State::Prepare(const sql::Query& query) {
  const auto [entry, is_new] = statements.try_emplace(query.name);
  if (is_new) link->connection().prepare(query.name, query.text);
  return entry->second;
}

void Session::State::PrepareAnew(const sql::Query& query, Prepared& prepared) {
  link->connection().unprepare(query.name);
  link->connection().prepare(query.name, query.text);
  prepared.is_stale = false;
}

absl::Status Session::State::Failed(const Failure& failure) {
  broken = broken || failure.is_broken;
  shared = shared || IsOfPooler(failure.status);
  if (metrics != nullptr) metrics->DatabaseError(failure.sqlstate_class);
  return failure.status;
}

absl::Status Session::State::Recheck() {
  recheck_at = Clock::now() + kRecheckEvery;
  if (broken || link->HungUp()) return Failed({NotConnected(), true, "08"});
  link->watchdog().Arm(patience);
  absl::Status status;
  try {
    status = link->CheckRequirements();
    if (status.ok()) status = link->CheckSchema();
    broken = broken || !status.ok();
    shared = shared || IsOfPooler(status);
  } catch (...) {
    status = Failed(ExplainException({kRecheckStatement, link->connection().is_open(), false}));
    status = broken ? NotConnected() : absl::OkStatus();
  }
  link->watchdog().Disarm();
  return status;
}

// For a statement that missed something, while the watchdog is armed. In a transaction PostgreSQL
// does not answer: then the next recheck, which is due, finds out.
absl::Status Session::State::CheckSchema() {
  recheck_at = Clock::now();
  absl::Status status;
  try {
    status = link->CheckSchema();
  } catch (...) {
    return absl::OkStatus();
  }
  broken = broken || !status.ok();
  return status;
}

absl::Status Session::State::CheckAbandoned() {
  if (abandoned == nullptr) return absl::OkStatus();
  link->watchdog().Arm(patience);
  absl::Status status;
  try {
    status = abandoned->Check(link->connection());
  } catch (...) {
    // Nothing was to be changed; and who cannot be told connects as if there were none.
    status = Failed(ExplainException({kRecheckStatement, link->connection().is_open(), false}));
    status = broken ? NotConnected() : absl::OkStatus();
  }
  link->watchdog().Disarm();
  return status;
}

absl::StatusOr<pqxx::result> Session::State::Run(absl::string_view name, Prepared& prepared,
                                                 Statement statement) {
  if (broken || link->HungUp()) return Failed({NotConnected(), true, "08"});
  const auto start = std::chrono::steady_clock::now();
  link->watchdog().Arm(patience);
  absl::StatusOr<pqxx::result> result = absl::UnknownError("");
  try {
    pqxx::nontransaction work(link->connection());
    result = statement(work);
    prepared.has_worked = true;
  } catch (...) {
    const Failure failure =
        ExplainException({name, link->connection().is_open(), prepared.has_worked});
    if (failure.is_stale) prepared = {false, true};
    result = Failed(failure);
    if (failure.is_missing) {
      const absl::Status schema = CheckSchema();
      if (!schema.ok()) result = schema;
    }
  }
  link->watchdog().Disarm();
  if (metrics != nullptr) {
    metrics->Statement(name, absl::FromChrono(std::chrono::steady_clock::now() - start));
  }
  return result;
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Session>> Session::Open(const ConnectOptions& options,
                                                       metrics::Metrics* metrics) {
  absl::StatusOr<std::unique_ptr<Link>> link = Link::Open(options);
  if (!link.ok()) {
    if (metrics != nullptr) metrics->DatabaseError("08");
    return std::move(link).status();
  }
  auto state = std::make_unique<State>(*std::move(link), options, metrics);
  RETURN_IF_ERROR(state->CheckAbandoned());
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

absl::StatusOr<Rows> Session::Run(const sql::Query& query, const Params& params) {
  State::Prepared& prepared = state_->Prepare(query);
  absl::StatusOr<pqxx::result> result =
      state_->Run(query.name, prepared, [&](pqxx::nontransaction& work) {
        if (prepared.is_stale) state_->PrepareAnew(query, prepared);
        const std::vector<pqxx::binarystring> binary = Binary(params.values());
        return work.exec_prepared(query.name, pqxx::prepare::make_dynamic_params(binary));
      });
  if (!result.ok()) return std::move(result).status();
  return Rows(std::make_shared<const Rows::State>(*std::move(result)));
}

absl::StatusOr<Rows> Session::RunText(absl::string_view text) {
  State::Prepared once;
  absl::StatusOr<pqxx::result> result =
      state_->Run(kTextStatement, once, [text](pqxx::nontransaction& work) {
        return work.exec(std::string(text));
      });
  if (!result.ok()) return std::move(result).status();
  return Rows(std::make_shared<const Rows::State>(*std::move(result)));
}

absl::Status Session::RunLong(absl::string_view command, absl::Duration statement_timeout) {
  RETURN_IF_ERROR(RunText(StatementTimeoutSetting(statement_timeout)).status());
  state_->patience = state_->PatienceFor(statement_timeout);
  const absl::Status status = RunText(command).status();
  state_->patience = state_->PatienceFor(state_->statement_timeout);
  const absl::Status reset = RunText(StatementTimeoutSetting(state_->statement_timeout)).status();
  return status.ok() ? reset : status;
}

void Session::EndWithin(absl::Duration rest) {
  state_->link->watchdog().EndWithin(absl::ToChronoNanoseconds(rest));
}

absl::Status Session::Recheck() {
  if (State::Clock::now() < state_->recheck_at) return absl::OkStatus();
  return state_->Recheck();
}

absl::Status Session::RecheckNow() { return state_->Recheck(); }

bool Session::is_shared() const { return state_->shared; }

bool Session::alive() const { return !state_->broken && !state_->link->HungUp(); }

int Session::backend_pid() const { return state_->link->backend().pid; }

}  // namespace skiplane::pg
