// One line on a terminal that tells how far something is, drawn over itself.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace skiplane::cli {

// As in "[##########----------]  50%  5,000 of about 10,000"; without a total the count alone.
std::string ProgressLine(int64_t done, int64_t total, const std::string& unit);

class ProgressBar {
 public:
  // Draws nothing unless `is_terminal`.
  ProgressBar(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Draw(int64_t done, int64_t total, const std::string& unit);
  void Clear();

 private:
  std::ostream& out_;
  const bool is_terminal_;
  bool is_drawn_ = false;
};

}  // namespace skiplane::cli
