#include "server/config/subcommands.h"

namespace skiplane::config {
namespace {

// In the order of the list; the first one is what happens without a name.
constexpr Subcommand kSubcommands[] = {
    {Command::kServe, "serve", "Run the broker: what happens without a subcommand.", ""},
    {Command::kMigrate, "migrate", "Apply the migrations and end.",
    "skiplaned migrate [--dry-run] (--embedded DIR | --database URI | --database-file FILE)\n\n"
    "Brings the database's schema to that of this version, and ends; a broker does so, too, when\n"
    "it starts. Brokers of before go on beside. With --dry-run it says which migrations would be\n"
    "applied, and applies none.\n"},
    {Command::kCheckConfig, "check-config",
    "Check the settings and the files that they name, and end.",
    "skiplaned check-config FLAGS...\n\n"
    "Reads the settings, and the files that they name, as a broker with these flags (or\n"
    "--config FILE) would, says whether they are right, and warns of what is seldom meant.\n"
    "Asks no database and takes no port. skiplaned --help shows all flags.\n"},
    {Command::kDump, "dump", "Write all that the database holds to a file, and end.",
    "skiplaned dump FILE (--embedded DIR | --database URI | --database-file FILE)\n\n"
    "Writes all that the database holds for Skiplane, as it is at one moment, to FILE, which must\n"
    "not be there yet. Brokers go on meanwhile. Needs pg_dump (package postgresql-client), of the\n"
    "database's version or newer; --pg-bindir names its folder.\n"},
    {Command::kRestore, "restore", "Fill an empty database from such a file, and end.",
    "skiplaned restore FILE (--embedded DIR | --database URI | --database-file FILE)\n\n"
    "Fills a database that holds nothing of Skiplane from what `skiplaned dump` wrote, all or\n"
    "nothing, and brings it to the schema of this version. No broker may run on it. Needs\n"
    "pg_restore (package postgresql-client); --pg-bindir names its folder.\n"},
    {Command::kDoctor, "doctor", "Look at the database and this machine, say what to do, and end.",
    "skiplaned doctor FLAGS...\n\n"
    "Looks at the database of a broker with these flags (or --config FILE), and at what this\n"
    "machine gives it, and says what would keep it from serving well, and what to do. Changes\n"
    "nothing. Ends with 1 if something is wrong. skiplaned --help shows all flags.\n"},
    {Command::kMakeToken, "make-token",
    "Print a new bearer token, and below it its line for --token-file.",
    "skiplaned make-token NAME [GROUP...]\n\n"
    "Prints a new bearer token, for its caller alone, and below it its line for --token-file.\n"
    "NAME says whose it is: visible ASCII without commas; the principal is token:NAME. Each GROUP\n"
    "puts that one into a group of the rules. Takes no flags.\n"},
};

}  // namespace

void DeclareSubcommands(CLI::App* app, Config* config) {
  app->require_subcommand(0, 1);
  for (const Subcommand& subcommand : kSubcommands) {
    app->add_subcommand(subcommand.name, subcommand.description);
  }
  app->get_subcommand("migrate")->add_flag("--dry-run", config->is_dry_run,
                                           "Say which would be applied, and apply none.");
  for (const char* const name : {"dump", "restore"}) {
    app->get_subcommand(name)->add_option("FILE", config->dump_file, "The file.")->required();
  }
  CLI::App* const make_token = app->get_subcommand("make-token");
  make_token->add_option("NAME", config->token_name, "Whose it is.")->required();
  make_token->add_option("GROUP", config->token_groups, "The groups of that one.");
}

const Subcommand& SubcommandOf(const CLI::App& app) {
  for (const Subcommand& subcommand : kSubcommands) {
    if (app.got_subcommand(subcommand.name)) return subcommand;
  }
  return kSubcommands[0];
}

}  // namespace skiplane::config
