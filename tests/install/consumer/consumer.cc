// Uses the installed headers and libraries: the client, its worker, and the API's messages.
#include <iostream>

#include "skiplane/error.h"
#include "skiplane/v1/broker.pb.h"
#include "skiplane/worker.h"

int main() {
  // Nobody listens there, which is answer enough.
  auto client = skiplane::Client::Connect(
      {.addresses = {"unix:/no/such/socket"}, .backoff = absl::Milliseconds(1)});
  if (!client.ok()) return 1;
  const auto made = client->Enqueue("mail", {.payload = "hello"});
  std::cout << made.status() << "\n";
  if (made.status().code() != absl::StatusCode::kUnavailable) return 2;
  if (!skiplane::ErrorReason(made.status()).empty()) return 3;
  const auto refused = skiplane::Worker::Start(*client, {}, nullptr);
  if (refused.status().code() != absl::StatusCode::kInvalidArgument) return 4;
  return skiplane::v1::LeaseRequest().worker_id().empty() ? 0 : 5;
}
