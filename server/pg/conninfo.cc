#include "server/pg/conninfo.h"

#include <libpq-fe.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "server/base/reason.h"
#include "server/base/status_macros.h"

namespace skiplane::pg {
namespace {

using Keywords = std::map<std::string, std::string>;

int64_t AtLeast(int64_t least, int64_t value) { return std::max(least, value); }

// A single quote or backslash within a value is escaped by a backslash.
std::string Quoted(absl::string_view value) {
  std::string out = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

absl::StatusOr<Keywords> Parse(const std::string& uri) {
  char* error = nullptr;
  PQconninfoOption* const parsed = PQconninfoParse(uri.c_str(), &error);
  PQfreemem(error);  // It may quote the password: nobody gets to see it.
  if (parsed == nullptr) {
    return base::Refuse(absl::StatusCode::kUnavailable, "DATABASE_UNAVAILABLE",
                        "the database's URI is malformed");
  }
  Keywords keywords;
  for (const PQconninfoOption* option = parsed; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) keywords[option->keyword] = option->val;
  }
  PQconninfoFree(parsed);
  return keywords;
}

void Complete(const ConnectOptions& options, Keywords& keywords) {
  const int64_t connect_seconds = absl::ToInt64Seconds(options.connect_timeout);
  const int64_t user_millis = absl::ToInt64Milliseconds(options.tcp_user_timeout);
  if (!options.application_name.empty()) keywords["application_name"] = options.application_name;
  keywords.emplace("application_name", "skiplaned");
  // libpq takes 1 s as 2 s and 0 as for ever.
  keywords.emplace("connect_timeout", absl::StrCat(AtLeast(2, connect_seconds)));
  keywords.emplace("tcp_user_timeout", absl::StrCat(AtLeast(1, user_millis)));
  // These find a dead peer while nothing is under way, within 6 s.
  keywords.emplace("keepalives", "1");
  keywords.emplace("keepalives_idle", "3");
  keywords.emplace("keepalives_interval", "1");
  keywords.emplace("keepalives_count", "3");
  // After a failover one of several hosts is a standby, which could only refuse our writes.
  keywords.emplace("target_session_attrs", "read-write");
  keywords["client_encoding"] = "UTF8";
}

std::string Milliseconds(absl::Duration duration) {
  return absl::StrCat("'", AtLeast(1, absl::ToInt64Milliseconds(duration)), "ms'");
}

}  // namespace

absl::StatusOr<std::string> Conninfo(const ConnectOptions& options) {
  absl::StatusOr<Keywords> keywords = Parse(options.uri);
  if (!keywords.ok()) return keywords.status();
  Complete(options, *keywords);
  std::string out;
  for (const auto& [keyword, value] : *keywords) {
    absl::StrAppend(&out, keyword, "=", Quoted(value), " ");
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> LibpqEnvironment(const std::string& uri) {
  ASSIGN_OR_RETURN(const Keywords keywords, Parse(uri));
  std::vector<std::string> environment;
  PQconninfoOption* const known = PQconndefaults();
  for (const PQconninfoOption* option = known; option != nullptr && option->keyword != nullptr;
       ++option) {
    const auto found = keywords.find(option->keyword);
    if (found == keywords.end() || option->envvar == nullptr) continue;
    environment.push_back(absl::StrCat(option->envvar, "=", found->second));
  }
  PQconninfoFree(known);
  return environment;
}

absl::StatusOr<bool> HasPassword(const std::string& uri) {
  const absl::StatusOr<Keywords> keywords = Parse(uri);
  if (!keywords.ok()) return keywords.status();
  return keywords->count("password") > 0;
}

std::string StatementTimeoutSetting(absl::Duration limit) {
  return absl::StrCat("SET statement_timeout = ", Milliseconds(limit));
}

std::string SessionSettings(const ConnectOptions& options) {
  return absl::StrCat(
      "SET synchronous_commit = on; SET default_transaction_isolation = 'read committed'; "
      "SET TimeZone = 'UTC'; SET idle_in_transaction_session_timeout = '5s'; "
      // Answers come as text, in the form that is read here.
      "SET bytea_output = 'hex'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; "
      "SET extra_float_digits = 1; SET idle_session_timeout = 0; "
      "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; "
      "SET enable_bitmapscan = off; SET enable_sort = off; SET enable_material = off; "
      "SET jit = off; SET max_parallel_workers_per_gather = 0; "
      // A generic plan is made once, perhaps while a table is empty, and must be right when it is
      // full: a row found by its location costs nothing, every index entry that is passed costs
      // much.
      "SET random_page_cost = 0.01; SET cpu_index_tuple_cost = 10; "
      "SET plan_cache_mode = force_generic_plan; ",
      StatementTimeoutSetting(options.statement_timeout),
      "; SET lock_timeout = ", Milliseconds(options.lock_timeout));
}

}  // namespace skiplane::pg
