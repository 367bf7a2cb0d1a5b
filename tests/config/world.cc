#include "tests/config/world.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"

namespace skiplane::config {
namespace {

constexpr char kDatabase[] = "--database=postgresql://db/skiplane";

void ClearVariables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    if (absl::StartsWith(variable, "SKIPLANE_")) {
      names.push_back(variable.substr(0, variable.find('=')));
    }
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

World::World() : folder_(::testing::TempDir() + "skiplane_config_XXXXXX") {
  ClearVariables();
  EXPECT_NE(mkdtemp(folder_.data()), nullptr);
}

World::~World() {
  ClearVariables();
  std::filesystem::remove_all(folder_);
}

void World::SetVariable(const std::string& name, const std::string& value) {
  setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
}

std::string World::WriteFile(const std::string& name, const std::string& text) const {
  const std::string path = folder_ + "/" + name;
  std::ofstream(path) << text;
  return path;
}

Config World::Parsed(const std::vector<std::string>& arguments) {
  const auto result = ParseConfig(arguments, "1.2.3");
  if (const Config* const config = std::get_if<Config>(&result)) return *config;
  ADD_FAILURE() << std::get<EarlyExit>(result).text;
  return {};
}

Config World::ParsedWithDatabase(std::vector<std::string> arguments) {
  arguments.emplace_back(kDatabase);
  return Parsed(arguments);
}

EarlyExit World::Ended(const std::vector<std::string>& arguments) {
  const auto result = ParseConfig(arguments, "1.2.3");
  if (const EarlyExit* const end = std::get_if<EarlyExit>(&result)) return *end;
  ADD_FAILURE() << "was accepted";
  return {};
}

EarlyExit World::EndedWithDatabase(std::vector<std::string> arguments) {
  arguments.emplace_back(kDatabase);
  return Ended(arguments);
}

}  // namespace skiplane::config
