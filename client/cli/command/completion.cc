// skiplane completion.
#include "client/cli/command/completion.h"

#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/command/commands.h"
#include "client/cli/input/parse.h"

namespace skiplane::cli {
namespace {

// A command as completion sees it.
struct Entry {
  std::string path;  // "queues list"; empty for skiplane itself
  std::vector<std::string> commands{};
  std::vector<std::string> options{};
  std::vector<std::string> with_value{};  // of the options, and their short names
  bool takes_queue = false;
};

void Collect(const CLI::App& app, const std::string& path, std::vector<Entry>& entries) {
  Entry entry{.path = path};
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_positional() && option->get_name() == "QUEUE") entry.takes_queue = true;
    for (const std::string& name : option->get_lnames()) entry.options.push_back("--" + name);
    if (option->get_items_expected_min() == 0) continue;
    for (const std::string& name : option->get_lnames()) entry.with_value.push_back("--" + name);
    for (const std::string& name : option->get_snames()) entry.with_value.push_back("-" + name);
  }
  const auto subcommands = app.get_subcommands({});
  for (const CLI::App* const command : subcommands) entry.commands.push_back(command->get_name());
  entries.push_back(std::move(entry));
  for (const CLI::App* const command : subcommands) {
    Collect(*command, absl::StrCat(path, path.empty() ? "" : " ", command->get_name()), entries);
  }
}

std::vector<Entry> EntriesOf(const CLI::App& app) {
  std::vector<Entry> entries;
  Collect(app, "", entries);
  return entries;
}

constexpr char kBash[] = R"sh(# Completion of skiplane for bash: source <(skiplane completion bash)
_skiplane_queues() {
  skiplane queues list --json --no-counts --limit 1000 --timeout 2s 2>/dev/null |
    sed -n 's/^{"name":"\([^"]*\)".*/\1/p'
}

_skiplane() {
  local word current=${COMP_WORDS[COMP_CWORD]} path='' words='' queues='' values=''
  local global='@global@' before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${path:+$path }$word" in
      @paths@) path="${path:+$path }$word" ;;
    esac
  done
  case "$path" in
@entries@  esac
  [[ $before != '=' ]] || before=${COMP_WORDS[COMP_CWORD-2]}
  if [[ $before == --queue || $before == -q ]]; then
    words=$(_skiplane_queues)
  elif [[ " $values @values@ " == *" $before "* ]]; then
    words=''
  elif [[ $current == -* ]]; then
    words="$words $global"
  elif [[ -n $queues ]]; then
    words=$(_skiplane_queues)
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null || true
}
complete -F _skiplane skiplane
)sh";

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  const std::vector<Entry> entries = EntriesOf(app);
  std::vector<std::string> paths;
  std::string lines;
  for (const Entry& entry : entries) {
    if (!entry.path.empty()) paths.push_back(absl::StrCat("'", entry.path, "'"));
    absl::StrAppend(&lines, "    '", entry.path, "') words='",
                    absl::StrJoin(entry.commands, " "), " ", absl::StrJoin(entry.options, " "),
                    "' values='", absl::StrJoin(entry.with_value, " "), "'",
                    entry.takes_queue ? " queues=yes" : "", " ;;\n");
  }
  return absl::StrReplaceAll(kBash,
                             {{"@global@", absl::StrJoin(entries.front().options, " ")},
                              {"@values@", absl::StrJoin(entries.front().with_value, " ")},
                              {"@paths@", absl::StrJoin(paths, " | \\\n      ")},
                              {"@entries@", lines}});
}

std::string ZshCompletion(const CLI::App& app) {
  const std::string bash = BashCompletion(app);
  return absl::StrCat(
      "# Completion of skiplane for zsh: source <(skiplane completion zsh)\n"
      "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n",
      absl::StrReplaceAll(bash, {{"mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")",
                                  "COMPREPLY=( $(compgen -W \"$words\" -- \"$current\") )"}}));
}

std::string FishCompletion(const CLI::App& app) {
  std::string text =
      "# Completion of skiplane for fish: skiplane completion fish | source\n"
      "function __skiplane_path\n"
      "  string join ' ' (string match -v -- '-*' (commandline -opc)[2..])\nend\n"
      "function __skiplane_queues\n"
      "  skiplane queues list --json --no-counts --limit 1000 --timeout 2s 2>/dev/null |\n"
      "    string replace -rf '^\\{\"name\":\"([^\"]*)\".*' '$1'\nend\n"
      "complete -c skiplane -f\n";
  for (const Entry& entry : EntriesOf(app)) {
    const std::string at = absl::StrCat("complete -c skiplane -n 'test (__skiplane_path) = \"",
                                        entry.path, "\"'");
    const std::string in =
        absl::StrCat("complete -c skiplane -n 'string match -q -- \"", entry.path,
                     "*\" (__skiplane_path)'");
    if (!entry.commands.empty()) {
      absl::StrAppend(&text, at, " -a '", absl::StrJoin(entry.commands, " "), "'\n");
    }
    if (entry.takes_queue) absl::StrAppend(&text, at, " -a '(__skiplane_queues)'\n");
    for (const std::string& option : entry.options) {
      const bool has_value = absl::c_linear_search(entry.with_value, option);
      absl::StrAppend(&text, in, " -l ", option.substr(2),
                      option == "--queue" ? " -r -a '(__skiplane_queues)'"
                      : has_value         ? " -r -F"
                                          : "",
                      "\n");
    }
  }
  return text;
}

void DeclareCompletion(CLI::App* app, Plan* plan) {
  CLI::App* const completion =
      AddGroup(app, "completion", "Prints a script that completes commands and queue names");
  for (const auto& [name, make] :
       {std::pair{"bash", &BashCompletion}, {"zsh", &ZshCompletion}, {"fish", &FishCompletion}}) {
    CLI::App* const shell = completion->add_subcommand(
        name, absl::StrCat("For ", name, ": put it where ", name, " reads its completions."));
    shell->callback([plan, make = make] {
      plan->run = [make](Session& session) {
        CLI::App everything;
        Plan none;
        DeclareEverything(&everything, &none);
        session.out() << make(everything);
        return absl::OkStatus();
      };
    });
  }
}

}  // namespace skiplane::cli
