#include "server/app/files/make_token.h"

#include <iostream>

#include "server/access/new_token.h"
#include "server/base/status_macros.h"

namespace skiplane::app {

absl::Status PrintNewToken(const config::Config& config) {
  ASSIGN_OR_RETURN(const access::NewToken made,
                   access::MakeToken(config.token_name, config.token_groups));
  std::cout << made.token << "\n" << made.line << "\n" << std::flush;
  return absl::OkStatus();
}

}  // namespace skiplane::app
