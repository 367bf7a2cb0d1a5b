// What a configuration is read from besides flags: an environment and a folder of files, both of
// the test alone.
#pragma once

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/config/config.h"

namespace skiplane::config {

// Clears the SKIPLANE_ variables of the process: those of the machine must not leak in.
class World : public ::testing::Test {
 protected:
  World();
  ~World() override;

  static void SetVariable(const std::string& name, const std::string& value);
  // Returns the path of the file.
  std::string WriteFile(const std::string& name, const std::string& text) const;
  const std::string& folder() const { return folder_; }

  // The configuration, or a failed test.
  static Config Parsed(const std::vector<std::string>& arguments);
  // The same with a database named.
  static Config ParsedWithDatabase(std::vector<std::string> arguments);
  // How it ended, or a failed test.
  static EarlyExit Ended(const std::vector<std::string>& arguments);
  static EarlyExit EndedWithDatabase(std::vector<std::string> arguments);

 private:
  std::string folder_;
};

}  // namespace skiplane::config
