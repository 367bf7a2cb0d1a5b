#include "server/config/config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/base/status_macros.h"
#include "server/config/address.h"
#include "server/config/options.h"
#include "server/config/settings_file.h"
#include "server/config/source.h"
#include "server/config/subcommands.h"

namespace skiplane::config {
namespace {

constexpr int kUsageError = 2;
// With an embedded database, if nothing else is said.
constexpr char kHttpListen[] = "127.0.0.1:7080";

EarlyExit UsageError(absl::string_view message) {
  return {kUsageError,
          absl::StrCat("skiplaned: ", message, "\nRun skiplaned --help for all flags.\n")};
}

// The environment variable that is to blame, where CLI11 blames its flag; empty if it is the flag.
std::string VariableToBlame(absl::string_view message, const std::vector<std::string>& arguments) {
  const std::string flag(message.substr(0, message.find(':')));
  if (!absl::StartsWith(flag, "--") || !IsInEnvironment(flag.substr(2))) return "";
  const bool is_given =
      std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return argument == flag || absl::StartsWith(argument, flag + "=");
      });
  return is_given ? "" : EnvironmentName(flag.substr(2));
}

// Instead of what would repeat it, with its password.
constexpr char kMisplacedUri[] =
    "a URI stands where none is expected: it needs --database before it";

// What CLI11 says, unless that repeats a URI that stands in the wrong place.
EarlyExit UsageError(const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  const absl::string_view message = error.what();
  if (absl::StrContains(message, "://")) return UsageError(kMisplacedUri);
  const std::string variable = VariableToBlame(message, arguments);
  return UsageError(variable.empty() ? std::string(message)
                                     : absl::StrCat(variable, ", for ", message));
}

// From an App that has parsed nothing: CLI11 would show a subcommand's flags, which are none.
EarlyExit ShowHelp(absl::string_view version, const CLI::App& asked) {
  if (const std::string help = SubcommandOf(asked).help; !help.empty()) return {0, help};
  CLI::App app("", "skiplaned");
  Options options;
  DeclareOptions(version, &app, &options);
  return {0, app.help()};
}

absl::StatusOr<std::string> ReadUri(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::string uri(absl::StripAsciiWhitespace(line));
  const std::string wrong = CheckDatabaseUri(uri);
  if (wrong.empty()) return uri;
  return absl::InvalidArgumentError(
      absl::StrCat("--database-file: the first line of ", path, " ", wrong));
}

absl::Status ResolveDatabase(const Options& options, Config* config) {
  const int given = (config->database_uri.empty() ? 0 : 1) +
                    (options.database_file.empty() ? 0 : 1) +
                    (config->embedded_dir.empty() ? 0 : 1);
  if (given != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "exactly one of --database, --database-file and --embedded is needed, not ", given,
        " (flags, SKIPLANE_ environment and --config together)"));
  }
  if (!options.database_file.empty()) {
    ASSIGN_OR_RETURN(config->database_uri, ReadUri(options.database_file));
    config->database_file = options.database_file;
  }
  if (!config->embedded_dir.empty()) {
    std::error_code error;
    config->embedded_dir = std::filesystem::absolute(config->embedded_dir, error).string();
    if (error) {
      return absl::InvalidArgumentError(absl::StrCat("--embedded: ", error.message()));
    }
  }
  return absl::OkStatus();
}

bool IsOpen(const std::string& listen) { return !listen.empty() && !IsLoopback(listen); }

// A port that others can reach needs callers who prove who they are, or somebody who says that it
// does not.
absl::Status CheckAccess(const Config& config) {
  const bool asks = !config.tls.client_ca_file.empty() || !config.access.token_file.empty() ||
                    !config.access.jwt_keys_file.empty();
  const bool reaches_out = IsOpen(config.listen) || IsOpen(config.http_listen);
  const bool has_tokens =
      !config.access.token_file.empty() || !config.access.jwt_keys_file.empty();
  if (!reaches_out || config.access.is_open) return absl::OkStatus();
  if (has_tokens && !config.tls.enabled()) {
    return absl::InvalidArgumentError(absl::StrCat(
        IsOpen(config.listen) ? "--listen" : "--http-listen",
        ": other machines reach this address, and tokens from them are refused without TLS: add "
        "--tls-cert and --tls-key"));
  }
  if (asks) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      IsOpen(config.listen) ? "--listen" : "--http-listen",
      ": other machines reach this address, and nobody would have to prove who calls: add "
      "--token-file, --jwt-keys or --tls-client-ca, or say --open-access"));
}

// The HTTP port, and the dashboard at it.
absl::Status ResolveHttp(const Options& options, Config* config) {
  const bool is_asked_for = options.dashboard->count() > 0;
  const bool is_embedded = !config->embedded_dir.empty();
  const bool by_default = config->http_listen.empty() && is_embedded;
  if (by_default) config->http_listen = kHttpListen;
  if (config->http_listen == "off") config->http_listen.clear();
  config->dashboard = is_asked_for ? options.wants_dashboard
                                   : is_embedded && !config->http_listen.empty();
  // Who asks for the dashboard asks for its port.
  config->is_http_by_default = by_default && !(is_asked_for && config->dashboard);
  if (config->dashboard && config->http_listen.empty()) {
    return absl::InvalidArgumentError(
        "--dashboard: it is served at the HTTP port, and there is none: add --http-listen, as in "
        "--http-listen 127.0.0.1:7080, or say --no-dashboard");
  }
  return absl::OkStatus();
}

// From the flags, each of which is right by itself, to the whole.
absl::StatusOr<Config> Resolve(const CLI::App& app, const Options& options) {
  Config config = options.config;
  config.command = SubcommandOf(app).command;
  if (config.command == Command::kMakeToken) return config;
  RETURN_IF_ERROR(ResolveDatabase(options, &config));
  if (config.metrics_listen == "off") config.metrics_listen.clear();
  for (std::string& origin : config.http_origins) origin = OriginAsSent(origin);
  RETURN_IF_ERROR(ResolveHttp(options, &config));
  config.migrate_at_start = !options.no_migrate;
  config.hands_off = !options.no_hand_off;
  config.tls.requires_client = options.client_certificate != "optional";
  if (config.access.jwt_algorithms.empty()) config.access.jwt_algorithms = {"RS256", "ES256"};
  const bool takes_calls =
      config.command == Command::kServe || config.command == Command::kCheckConfig;
  if (takes_calls) RETURN_IF_ERROR(CheckAccess(config));
  config.reflection = options.reflection == "on" ||
                      (options.reflection == "auto" && IsLoopback(config.listen));
  absl::ParseDuration(options.drain_timeout, &config.drain_timeout);
  base::ParseLogLevel(options.log_level, &config.log_level);
  if (options.log_format == "json") config.log_format = base::LogFormat::kJson;
  return config;
}

// CLI11 would take "--embedded=" for a flag whose value is the next argument, whatever that is:
// a script with an empty variable would run on something else than it says.
const std::string* FindEmptyValue(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (absl::StartsWith(argument, "--") && argument.find('=') == argument.size() - 1) {
      return &argument;
    }
  }
  return nullptr;
}

}  // namespace

std::variant<Config, EarlyExit> ParseConfig(const std::vector<std::string>& arguments,
                                            absl::string_view version) {
  if (const std::string* const empty = FindEmptyValue(arguments); empty != nullptr) {
    if (absl::StrContains(*empty, "://")) return UsageError(kMisplacedUri);
    return UsageError(absl::StrCat(empty->substr(0, empty->size() - 1), ": the value is empty"));
  }
  CLI::App app("", "skiplaned");
  Options options;
  try {
    DeclareOptions(version, &app, &options);
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return ShowHelp(version, app);
  } catch (const CLI::CallForVersion& call) {
    return EarlyExit{0, absl::StrCat(call.what(), "\n")};
  } catch (const CLI::ConfigError& error) {
    return UsageError(error.what());  // of the file: it repeats no URI
  } catch (const CLI::ParseError& error) {
    return UsageError(error, arguments);
  }
  absl::StatusOr<Config> config = Resolve(app, options);
  if (!config.ok()) return UsageError(config.status().message());
  config->is_database_on_command_line =
      !config->database_uri.empty() && SourceOf(arguments, "database") == "flag";
  return *std::move(config);
}

absl::Status CheckReload(const Config& running, Config read) {
  read.listen = running.listen;
  read.http_listen = running.http_listen;
  read.tls = running.tls;
  return CheckAccess(read);
}

}  // namespace skiplane::config
