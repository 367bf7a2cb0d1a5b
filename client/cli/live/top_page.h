// What skiplane top shows: a page of text made of the broker's last answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/live/poller.h"
#include "client/cli/live/screen.h"
#include "client/cli/text/columns.h"

namespace skiplane::cli {

// The columns of queues that rows may be sorted by; --sort names them.
const Columns& TopColumns();

class TopPage {
 public:
  // The fullest queues come first, unless `order` says otherwise.
  explicit TopPage(std::optional<Order> order, bool is_colored = false);

  // False when the key asks to end. A letter sorts by its column, once more the other way round.
  bool Press(const Stroke& stroke);

  // Exactly as many lines as the screen has, none wider.
  std::vector<std::string> Render(const Sight& sight, const std::string& broker, ScreenSize size);

  // All of it, for what is no terminal; 0 cuts no line.
  std::string RenderAll(const Sight& sight, size_t width) const;

 private:
  Table QueueTable(const Sight& sight) const;
  void Sort(char letter);

  Order order_;
  bool is_colored_;
  int64_t first_ = 0;  // queue that is shown
  int64_t shown_ = 1;  // queues, at the last Render
};

}  // namespace skiplane::cli
