#include "tests/bench/cpu.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skiplane::bench {
namespace {

struct Stat {
  pid_t parent = 0;
  int64_t own_ticks = 0;
  int64_t ended_children_ticks = 0;
};

// The name of a program may hold spaces and parentheses: fields are counted behind the last ')'.
Stat ReadStat(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text;
  std::getline(file, text, '\0');  // an iterator would throw when the process ends meanwhile
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  const std::vector<std::string> fields = absl::StrSplit(text.substr(name_end + 2), ' ');
  if (fields.size() < 15) return {};
  const auto number = [&fields](size_t index) {
    int64_t value = 0;
    return absl::SimpleAtoi(fields[index], &value) ? value : 0;
  };
  return {.parent = static_cast<pid_t>(number(1)),
          .own_ticks = number(11) + number(12),
          .ended_children_ticks = number(13) + number(14)};
}

absl::Duration FromTicks(int64_t ticks) { return absl::Seconds(ticks) / sysconf(_SC_CLK_TCK); }

}  // namespace

absl::Duration ProcessCpu(pid_t pid) { return FromTicks(ReadStat(pid).own_ticks); }

absl::Duration TreeCpu(pid_t pid) {
  const Stat root = ReadStat(pid);
  int64_t ticks = root.own_ticks + root.ended_children_ticks;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), &closedir);
  while (const dirent* entry = readdir(proc.get())) {
    pid_t child = 0;
    if (!absl::SimpleAtoi(entry->d_name, &child)) continue;
    const Stat stat = ReadStat(child);
    if (stat.parent == pid) ticks += stat.own_ticks;
  }
  return FromTicks(ticks);
}

}  // namespace skiplane::bench
