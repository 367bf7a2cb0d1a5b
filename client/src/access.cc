#include "client/src/access.h"

namespace skiplane::internal {

std::shared_ptr<Connection> Access::ConnectionOf(const Client& client) {
  return client.connection_;
}

}  // namespace skiplane::internal
