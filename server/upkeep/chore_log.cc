#include "server/upkeep/chore_log.h"

#include <chrono>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "server/base/log.h"
#include "server/base/reason.h"
#include "server/base/sampled_event.h"

namespace skiplane::upkeep {
namespace {

void LogRun(absl::string_view name, absl::Duration duration, const absl::StatusOr<bool>& result) {
  static constinit base::SampledEvent event("chore");
  if (!event.Wanted()) return;
  event.Write({{"chore", std::string(name)},
               {"milliseconds", absl::StrFormat("%.1f", absl::ToDoubleMilliseconds(duration))},
               {"result", !result.ok() ? "failed" : *result ? "done" : "not done"}});
}

}  // namespace

bool ChoreLog::Run(absl::string_view name, absl::FunctionRef<absl::StatusOr<bool>()> chore) {
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<bool> result = chore();
  const absl::Duration duration = absl::FromChrono(std::chrono::steady_clock::now() - start);
  metrics_->Chore(name, duration, result.ok());
  LogRun(name, duration, result);
  LogChange(name, result.status());
  return result.ok() && *result;
}

void ChoreLog::LogChange(absl::string_view name, const absl::Status& status) {
  if (!status.ok() && failing_.insert(std::string(name)).second) {
    base::Log(base::LogLevel::kWarn, "chore_failed",
              {{"chore", std::string(name)},
               {"reason", base::ReasonOf(status)},
               {"message", std::string(status.message())}});
  }
  if (status.ok() && failing_.erase(name) > 0) {
    base::Log(base::LogLevel::kInfo, "chore_works_again", {{"chore", std::string(name)}});
  }
}

}  // namespace skiplane::upkeep
