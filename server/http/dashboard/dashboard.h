// The dashboard at the HTTP port: its files, logging in and out, and calls that a log-in cookie
// proves. Everything else goes to the handler of calls, as does what the cookie makes of a call:
// the same with the token in Authorization. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http/connect/refusal.h"
#include "server/http/dashboard/file_pages.h"
#include "server/http/handler.h"
#include "server/http/site.h"

namespace skiplane::http::dashboard {

inline constexpr char kLogin[] = "/dashboard/login";
inline constexpr char kLogout[] = "/dashboard/logout";

class Dashboard : public Handler {
 public:
  struct Options {
    Site site;
    bool has_tls = false;  // the port
    // As of the gateway: whether a call with this head may come in.
    std::function<absl::Status(const Head& head, const Caller& caller)> admit;
    std::function<void(absl::string_view reason)> refused;
  };

  // `calls` outlives the object.
  Dashboard(Handler& calls, Options options);

  std::optional<Response> Refuse(const Head& head, const Caller& caller) override;
  void Handle(Request request, std::shared_ptr<Exchange> exchange) override;
  Response Failure(int status, absl::string_view message, const Head& head) override;

 private:
  std::optional<connect::Refusal> CheckOwn(const Head& head) const;
  Response AnswerOwn(const Request& request) const;
  Response LogIn(const Request& request) const;
  // The answer to a request that is refused, which counts.
  Response AnswerRefusal(const connect::Refusal& refusal) const;

  // How a call goes on that came with a cookie; nothing if there is none that matters.
  struct Proven {
    Head head;  // with the token, if it counts
    std::string why_not;
  };
  std::optional<Proven> Prove(const Head& head) const;

  Handler& calls_;
  const Options options_;
  const FilePages pages_;
};

}  // namespace skiplane::http::dashboard
