// A private folder of this process for the files of its programs: only its user may look into it.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace skiplane::cli {

class Scratch {
 public:
  // No folder.
  Scratch() = default;
  // A new one, in TMPDIR or /tmp.
  static absl::StatusOr<Scratch> Make();
  // A new one in that folder; its name begins with `name`.
  static absl::StatusOr<Scratch> MakeIn(const std::string& parent, const std::string& name);
  // A new one in this one, which is made anew if it is gone: who cleans the machine may have taken
  // it for forgotten.
  absl::StatusOr<Scratch> MakeInside(const std::string& name) const;

  // Removes it with everything in it.
  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&& other) noexcept;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Empty if there is none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace skiplane::cli
