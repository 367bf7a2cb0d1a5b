// Many connections to one broker, for scenarios with thousands of calls under way: a connection
// takes a hundred of them. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "skiplane/v1/broker.grpc.pb.h"

namespace skiplane::bench {

class ManyStubs {
 public:
  ManyStubs(const std::string& address, size_t callers);

  v1::BrokerService::Stub& stub(size_t caller) const { return *stubs_[caller % stubs_.size()]; }

 private:
  std::vector<std::unique_ptr<v1::BrokerService::Stub>> stubs_;
};

}  // namespace skiplane::bench
