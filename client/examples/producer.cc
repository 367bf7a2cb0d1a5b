// Puts one task into the queue "mail", which it makes if need be.
#include <iostream>
#include <string>

#include "skiplane/client.h"

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:7070";
  auto client = skiplane::Client::Connect({.addresses = {address}});
  auto queue = client.ok() ? client->CreateQueue("mail") : client.status();
  if (!queue.ok()) return std::cerr << queue.status() << "\n", 1;

  auto task = client->Enqueue("mail", {.payload = "hello", .key = "order-17"});
  if (!task.ok()) return std::cerr << task.status() << "\n", 1;
  std::cout << task->task_id << (task->existing ? " is known\n" : " is committed\n");
}
