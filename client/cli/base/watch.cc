#include "client/cli/base/watch.h"

#include "absl/time/clock.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/base/terminal.h"
#include "client/cli/text/instant.h"

namespace skiplane::cli {
namespace {

constexpr char kClear[] = "\x1b[H\x1b[2J";

}  // namespace

absl::Status Watch(Session& session, absl::Duration interval,
                   const std::function<absl::Status(Session&)>& show) {
  Interrupt interrupt;
  const bool is_terminal = IsTerminal(1);
  bool is_first = true;
  do {
    if (is_terminal) session.out() << kClear;
    if (!session.json()) {
      if (!is_first && !is_terminal) session.out() << "\n";
      session.out() << FormatInstant(absl::Now()) << "\n";
    }
    const absl::Status status = show(session);
    if (!status.ok() && ExitCodeOf(status) != kNotReachable) return status;
    if (!status.ok()) std::cerr << "skiplane: " << Explain(status) << "; asking again\n";
    session.out() << std::flush;
    is_first = false;
  } while (!interrupt.Wait(interval) && session.out());
  return absl::OkStatus();
}

}  // namespace skiplane::cli
