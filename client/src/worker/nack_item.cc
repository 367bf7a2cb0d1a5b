#include "client/src/worker/nack_item.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace skiplane::internal {
namespace {

constexpr size_t kTypeBytesMax = 256;
constexpr size_t kTextBytesMax = 64 << 10;
constexpr absl::Duration kDelayMax = absl::Hours(24);

// A short name has to be UTF-8 without NUL: what is not plain ASCII becomes '?'.
std::string ShortName(const std::string& text) {
  std::string name = text.substr(0, kTypeBytesMax);
  const auto is_odd = [](char c) {
    return !absl::ascii_isprint(static_cast<unsigned char>(c));
  };
  std::replace_if(name.begin(), name.end(), is_odd, '?');
  return name;
}

Disposition DispositionOf(Result::Kind kind) {
  switch (kind) {
    case Result::Kind::kFail: return Disposition::kFail;
    case Result::Kind::kRelease: return Disposition::kRelease;
    default: return Disposition::kRetry;
  }
}

}  // namespace

NackItem ToNackItem(const LeasedTask& task, const Result& result) {
  NackItem item{.lease_token = task.lease_token, .disposition = DispositionOf(result.kind())};
  if (result.delay()) {
    item.retry_delay = std::clamp(*result.delay(), absl::ZeroDuration(), kDelayMax);
  }
  item.error.type = ShortName(result.error().type);
  item.error.text = result.error().text.substr(0, kTextBytesMax);
  item.error.fingerprint = ShortName(result.error().fingerprint);
  return item;
}

}  // namespace skiplane::internal
