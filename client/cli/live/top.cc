// skiplane top: all queues and workers on one screen.
#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/interrupt.h"
#include "client/cli/base/terminal.h"
#include "client/cli/command/commands.h"
#include "client/cli/input/option.h"
#include "client/cli/live/poller.h"
#include "client/cli/live/screen.h"
#include "client/cli/live/top_page.h"

namespace skiplane::cli {
namespace {

constexpr absl::Duration kShortest = absl::Milliseconds(100);

struct TopOptions {
  std::optional<absl::Duration> every{};
  std::string sort{};
  bool once = false;
};

absl::Status ShowOnce(Session& session, const TopPage& page) {
  Sight sight;
  Look(session, sight);
  if (!sight.status.ok()) return sight.status;
  session.out() << page.RenderAll(sight, static_cast<size_t>(TerminalWidth()));
  return absl::OkStatus();
}

// Until a key or a signal asks to end, or the broker refuses.
absl::Status Go(Session& session, absl::Duration interval, TopPage& page) {
  Interrupt interrupt(
      {.with_hangup = true, .with_resize = true, .at_end = [] { Screen::Restore(); }});
  Screen screen;
  const Poller poller(session, interval, interrupt);
  bool goes_on = true;
  while (goes_on) {
    const Sight sight = poller.Last();
    if (!sight.status.ok() && ExitCodeOf(sight.status) != kNotReachable) return sight.status;
    Screen::Draw(page.Render(sight, session.options().broker, Screen::Size()));
    goes_on = !interrupt.Wait(absl::InfiniteDuration(), /*descriptor=*/0);
    for (const Stroke& stroke : Screen::Strokes()) goes_on = goes_on && page.Press(stroke);
  }
  return absl::OkStatus();
}

absl::Status Top(Session& session, const TopOptions& options) {
  const absl::Duration interval = options.every.value_or(absl::Seconds(2));
  if (interval < kShortest) return UsageError("--every is at least 100ms");
  if (session.json()) {
    return UsageError(
        "top is for people; programs ask for queues list --json and workers --json");
  }
  std::optional<Order> order;
  if (!options.sort.empty()) {
    auto parsed = ParseOrder(TopColumns(), options.sort);
    if (!parsed.ok()) return parsed.status();
    order = *std::move(parsed);
  }
  TopPage page(std::move(order), session.options().is_colored);
  if (options.once || !Screen::IsPossible()) return ShowOnce(session, page);
  return Go(session, interval, page);
}

}  // namespace

void DeclareTop(CLI::App* app, Plan* plan) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* const top = AddCommand(
      app, plan, "top",
      "Shows all queues and workers on one screen until q or Ctrl-C.\n\n"
      "Arrows and page keys scroll; a letter sorts by the column that the last line names, and "
      "once more the other way round. Without a terminal it prints all of it once and ends.",
      options, Top);
  AddDuration(top, "--every", &options->every, "How often to ask").Default("2s");
  AddText(top, "--sort", &options->sort, "By this column, as oldest or failed:desc")
      .Type("COLUMN[:desc]")
      .Default("ready:desc");
  AddSwitch(top, "--once", &options->once, "Print all of it once and end");
  AddExamples(top, {"skiplane top --every 5s --sort oldest:desc"});
}

}  // namespace skiplane::cli
