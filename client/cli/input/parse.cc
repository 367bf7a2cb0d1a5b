#include "client/cli/input/parse.h"

#include <algorithm>
#include <memory>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/terminal.h"
#include "client/cli/command/commands.h"
#include "client/cli/input/help.h"
#include "client/cli/input/option.h"
#include "client/cli/text/duration.h"

namespace skiplane::cli {
namespace {

constexpr char kVersion[] = SKIPLANE_VERSION;
constexpr char kExitCodes[] = R"(Exit codes:
  0  done
  1  refused by the broker
  2  wrong usage, a bad line of input, or a question that nobody could answer
  3  broker or database not reachable: the same command may be given again
  4  no such queue, task, worker or operation
  5  a file or program of this machine failed
  130  interrupted

Times are shown in the local time zone (TZ=UTC changes that). Durations are written like 90s, 5m,
2h30m or 7d. docs/CLI.md has more examples.)";

void SetWatch(const std::string& text, GlobalOptions* options) {
  const absl::StatusOr<absl::Duration> interval =
      ParseDuration(text.find_first_not_of("0123456789.") == std::string::npos
                        ? absl::StrCat(text, "s")
                        : text);
  if (!interval.ok() || *interval < absl::Milliseconds(100)) {
    throw CLI::ValidationError("--watch", "must be a number of seconds, at least 0.1");
  }
  options->watch = *interval;
}

void SetColor(const std::string& text, GlobalOptions* options) {
  if (text != "auto" && text != "always" && text != "never") {
    throw CLI::ValidationError("--color", "must be auto, always or never");
  }
  options->is_colored = text == "always" || (text == "auto" && WantsColor());
}

void DeclareConnection(CLI::App* app, GlobalOptions* options) {
  AddText(app, "--broker", &options->broker,
          "The broker; several addresses are separated by commas")
      .Type("HOST:PORT")
      .Default(options->broker)
      .Variable("SKIPLANE_BROKER");
  AddText(app, "--actor", &options->actor, "Who makes changes, for the audit records")
      .Type("NAME")
      .Default("user@host")
      .Variable("SKIPLANE_ACTOR");
  AddText(app, "--token-file", &options->token_file,
          "File whose first line is the bearer token that proves to the broker who calls; it is "
          "read again when it changes")
      .Type("FILE")
      .Variable("SKIPLANE_TOKEN_FILE");
  AddSetter(app, "--timeout",
            [options](const std::string& text) {
              const absl::StatusOr<absl::Duration> timeout = ParseDuration(text);
              if (!timeout.ok() || *timeout <= absl::ZeroDuration()) {
                throw CLI::ValidationError("--timeout", "must be a duration such as 20s");
              }
              options->timeout = *timeout;
            },
            "How long a call may take, repeats included")
      .Type("DURATION")
      .Default("20s");
}

void DeclareTls(CLI::App* app, GlobalOptions* options) {
  AddSwitch(app, "--tls", &options->tls, "Encrypt; the other --tls options imply it")
      .Variable("SKIPLANE_TLS");
  AddText(app, "--tls-ca", &options->tls_ca, "PEM file of the authorities to trust")
      .Type("FILE")
      .Variable("SKIPLANE_TLS_CA");
  AddText(app, "--tls-cert", &options->tls_cert, "PEM file of the own certificate")
      .Type("FILE")
      .Variable("SKIPLANE_TLS_CERT");
  AddText(app, "--tls-key", &options->tls_key, "PEM file of its key")
      .Type("FILE")
      .Variable("SKIPLANE_TLS_KEY");
  AddText(app, "--tls-server-name", &options->tls_server_name,
          "The name that the broker's certificate must hold, if not the address")
      .Type("NAME");
}

// CLI11 would take "--key=" for an option whose value is the next argument, whatever that is.
const std::string* FindEmptyValue(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (absl::StartsWith(argument, "--") && argument.find('=') == argument.size() - 1) {
      return &argument;
    }
  }
  return nullptr;
}

EarlyExit Wrong(absl::string_view message) {
  return {kUsage, absl::StrCat("skiplane: ", message, "\nskiplane COMMAND --help explains.\n")};
}

// The command that the arguments have reached.
const CLI::App* Innermost(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

// The words before the command's own.
std::string PathOf(const CLI::App* app) {
  if (app->get_parent() == nullptr) return "";
  const std::string before = PathOf(app->get_parent());
  return absl::StrCat(before, before.empty() ? "" : " ", app->get_parent()->get_name());
}

// CLI11 says "A subcommand is required" also where one is there that it does not know. Nothing if
// what is missing is something else.
std::string WithoutCommand(const CLI::App& app) {
  const CLI::App* const reached = Innermost(&app);
  const std::string path = PathOf(reached);
  const std::string whole = absl::StrCat(path, path.empty() ? "" : " ", reached->get_name());
  std::vector<std::string> known;
  for (const CLI::App* command : reached->get_subcommands({})) {
    known.push_back(command->get_name());
  }
  if (known.empty()) return "";
  const std::vector<std::string> rest = app.remaining(true);
  return absl::StrCat(rest.empty() ? absl::StrCat("which command of ", whole, "?")
                                   : absl::StrCat("'", rest.front(), "' is no command of ", whole,
                                                  "."),
                      " There are: ", absl::StrJoin(known, ", "));
}

// CLI11 says "--keep-results: 1 required yes|no missing".
std::string WithoutValue(absl::string_view message) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(message, absl::MaxSplits(": 1 required ", 1));
  absl::string_view type = parts.second;
  if (!absl::ConsumeSuffix(&type, " missing")) return std::string(message);
  return absl::StrContains(type, '|')
             ? absl::StrCat(parts.first, " needs ", absl::StrReplaceAll(type, {{"|", " or "}}))
             : absl::StrCat(parts.first, " needs a value (", type, ")");
}

}  // namespace

void DeclareEverything(CLI::App* app, Plan* plan) {
  app->name("skiplane");
  app->description("Works with the queues and tasks of a Skiplane broker.");
  app->formatter(std::make_shared<Help>());
  app->set_help_flag("-h,--help", "Show this manual");
  app->set_version_flag("--version", kVersion, "Show the version");
  app->require_subcommand(1);
  app->fallthrough();
  app->option_defaults()->group("Options of all commands");
  AddSwitch(app, "--json", &plan->options.json,
            "For programs: one JSON document per line, the API's messages as protobuf writes them");
  app->add_flag_function(
         "--watch{2}",
         [plan](int64_t) {}, "Show it again every 2 seconds, or as said with --watch=SECONDS")
      ->type_name("");
  plan->options.is_colored = WantsColor();
  AddSetter(app, "--color", [plan](const std::string& text) { SetColor(text, &plan->options); },
            "Colour states and failures: auto is on a terminal, unless NO_COLOR is set")
      .Type("auto|always|never")
      .Default("auto");
  DeclareConnection(app, &plan->options);
  DeclareTls(app, &plan->options);
  app->option_defaults()->group("Options");
  DeclareCommands(app, plan);
  app->footer(kExitCodes);  // last: commands would inherit it
}

std::variant<Plan, EarlyExit> Parse(const std::vector<std::string>& everything) {
  const auto dashes = std::find(everything.begin(), everything.end(), "--");
  const std::vector<std::string> arguments(everything.begin(), dashes);
  if (const std::string* const empty = FindEmptyValue(arguments); empty != nullptr) {
    return Wrong(absl::StrCat(empty->substr(0, empty->size() - 1), ": the value is empty"));
  }
  Plan plan;
  plan.options.actor = DefaultActor();
  if (dashes != everything.end()) plan.rest.assign(dashes + 1, everything.end());
  CLI::App app;
  try {
    DeclareEverything(&app, &plan);
    std::vector<std::string> reversed = MarkBrackets(arguments);
    std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants them
    app.parse(reversed);
    if (const CLI::Option* const option = app.get_option("--watch"); option->count() > 0) {
      SetWatch(option->results().back(), &plan.options);
      if (!plan.is_view) return Wrong("--watch is for commands that list or show something");
    }
    if (plan.options.json && !(plan.options.sort.empty() && plan.options.columns.empty())) {
      return Wrong("--sort and --columns are for tables; jq sorts and chooses what --json prints");
    }
    if (!plan.rest.empty() && !plan.takes_rest) return Wrong("-- is for enqueue and work");
  } catch (const CLI::CallForHelp&) {
    const CLI::App* const command = Innermost(&app);
    return EarlyExit{kOk, command->help(PathOf(command))};
  } catch (const CLI::CallForVersion& call) {
    return EarlyExit{kOk, absl::StrCat(call.what(), "\n")};
  } catch (const CLI::RequiredError& error) {
    const std::string without = WithoutCommand(app);
    return Wrong(without.empty() ? error.what() : without);
  } catch (const CLI::ArgumentMismatch& error) {
    return Wrong(WithoutValue(error.what()));
  } catch (const CLI::ParseError& error) {
    return Wrong(error.what());
  }
  return plan;
}

}  // namespace skiplane::cli
