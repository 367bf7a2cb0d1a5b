// The way from a Client to its connection, for code of ours that makes calls which Client does not
// have.
#pragma once

#include <memory>

#include "client/src/connection.h"
#include "skiplane/client.h"

namespace skiplane::internal {

struct Access {
  static std::shared_ptr<Connection> ConnectionOf(const Client& client);
};

}  // namespace skiplane::internal
