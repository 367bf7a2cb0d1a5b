// The terminal as one page that is drawn anew, and its keys. What was there before comes back when
// it ends, however the process ends, unless it is killed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace skiplane::cli {

enum class Key { kNone, kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kLetter };

struct Stroke {
  Key key = Key::kNone;
  char letter = 0;
};

// Takes one stroke from the front of what a terminal sent; what is unknown is kNone.
Stroke NextStroke(std::string& input);

struct ScreenSize {
  size_t width = 0;
  size_t height = 0;
};

class Screen {
 public:
  // Standard input and output must be a terminal. One at a time in a process.
  static bool IsPossible();

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // As it is now: people change it.
  static ScreenSize Size();

  // No line may be wider than the screen.
  static void Draw(const std::vector<std::string>& lines);

  // The strokes since the last call; does not wait. The last one is `q` when the terminal is gone.
  static std::vector<Stroke> Strokes();

  // Gives the terminal back. A signal handler may call it.
  static void Restore();
};

}  // namespace skiplane::cli
