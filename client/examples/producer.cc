// Puts one task into the queue "mail", which it makes if need be.
#include <iostream>

#include "skiplane/client.h"

int main() {
  auto client = skiplane::Client::Connect({.addresses = {"127.0.0.1:7070"}});
  auto queue = client.ok() ? client->CreateQueue("mail") : client.status();
  if (!queue.ok()) return std::cerr << queue.status() << "\n", 1;

  auto task = client->Enqueue("mail", {.payload = "hello", .key = "order-17"});
  if (!task.ok()) return std::cerr << task.status() << "\n", 1;
  std::cout << task->task_id << (task->existing ? " is known\n" : " is committed\n");
}
