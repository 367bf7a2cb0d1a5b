// Which sites a request may be meant for and come from. A browser that shows a strange page can be
// made to send requests to this machine, with a Host that its owner lets point here, and with the
// Origin of that page. Pure functions of the lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/http/message.h"

namespace skiplane::http {

class Site {
 public:
  // `hosts`: names without a port that this server goes by, beside localhost and addresses.
  // `origins`: of pages that may call from elsewhere, as "https://tools.example:8443".
  Site(std::vector<std::string> hosts, std::vector<std::string> origins);

  struct Refusal {
    int status;
    std::string why;
  };
  // Nothing if the request may come in.
  std::optional<Refusal> Check(const Head& head) const;

  // Whether the request comes from a listed page.
  bool IsFromListedOrigin(const Head& head) const;

  // What lets a listed page read the answer; nothing for others.
  Fields AnswerFields(const Head& head) const;
  // What a browser asks before it sends a request of a page: "may I?" Nothing if it is no such
  // question of a listed page.
  std::optional<Response> Preflight(const Head& head) const;

 private:
  bool IsOwnHost(absl::string_view host) const;

  const std::vector<std::string> hosts_;
  const std::vector<std::string> origins_;
};

// Whether no page sent it, or one of this very site: of the host and port that it is for.
bool IsFromOwnPage(const Head& head);

// "localhost" of "localhost:7080", "::1" of "[::1]:7080".
absl::string_view HostWithoutPort(absl::string_view host);

}  // namespace skiplane::http
