#include "server/rpc/serve/stream_counts.h"

#include <algorithm>
#include <utility>

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace skiplane::rpc {
namespace {

constexpr int kPage = 500;
// A connection has its id a moment before it is in the list: those of the last moment are asked for
// again.
constexpr int64_t kOverlap = 500;

// gRPC's answer, which it never escapes where we read.
std::string Taken(char* json) {
  std::string text = json == nullptr ? "" : json;
  gpr_free(json);
  return text;
}

// What stands behind `"name":"` from `*at` on, to the next quote; `*at` moves behind it. Empty if
// there is none.
absl::string_view Next(absl::string_view json, absl::string_view name, size_t* at) {
  const std::string key = absl::StrCat("\"", name, "\":\"");
  const size_t found = json.find(key, *at);
  if (found == absl::string_view::npos) return "";
  const size_t begin = found + key.size();
  const size_t end = std::min(json.find('"', begin), json.size());
  *at = end;
  return json.substr(begin, end - begin);
}

int64_t Number(absl::string_view text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

// Zero if it is not there: channelz leaves zeros out.
int64_t NumberOf(absl::string_view json, absl::string_view name) {
  size_t at = 0;
  return Number(Next(json, name, &at));
}

}  // namespace

void StreamCounts::Refresh() {
  const std::string servers = Taken(grpc_channelz_get_servers(0));
  const int64_t first = std::max<int64_t>(next_ - kOverlap, 0);
  size_t at = 0;
  for (;;) {
    const absl::string_view server = Next(servers, "serverId", &at);
    if (server.empty()) return;
    for (int64_t from = first;;) {
      const std::string page = Taken(grpc_channelz_get_server_sockets(Number(server), from, kPage));
      int count = 0;
      size_t place = 0;
      for (;; ++count) {
        // "name":"chttp2 ipv4:127.0.0.1:40000","socketId":"7"
        const absl::string_view name = Next(page, "name", &place);
        const int64_t id = Number(Next(page, "socketId", &place));
        if (id == 0) break;
        ids_[name.substr(name.find(' ') + 1)] = id;
        from = id + 1;
      }
      next_ = std::max(next_, from);
      if (count < kPage) break;
    }
  }
}

void StreamCounts::Sweep(absl::FunctionRef<bool(absl::string_view address)> is_open) {
  absl::erase_if(ids_, [&](const auto& entry) { return !is_open(entry.first); });
}

std::optional<StreamCounts::Counts> StreamCounts::Of(absl::string_view address) const {
  const auto found = ids_.find(address);
  if (found == ids_.end()) return std::nullopt;
  const std::string json = Taken(grpc_channelz_get_socket(found->second));
  if (json.empty()) return std::nullopt;
  return Counts{NumberOf(json, "streamsStarted"), NumberOf(json, "streamsSucceeded"),
                NumberOf(json, "streamsFailed")};
}

}  // namespace skiplane::rpc
