// Runs the tasks of the queue "mail" on four threads until Enter is pressed.
#include <iostream>
#include <string>

#include "skiplane/worker.h"

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "127.0.0.1:7070";
  auto client = skiplane::Client::Connect({.addresses = {address}});
  if (!client.ok()) return std::cerr << client.status() << "\n", 1;

  auto worker = skiplane::Worker::Start(
      *client, {.queues = {{.name = "mail"}}, .concurrency = 4},
      [](const skiplane::LeasedTask& task, skiplane::Attempt&) {
        if (task.payload.empty()) return skiplane::Result::Fail({.type = "EmptyMail"});
        std::cout << "attempt " + std::to_string(task.attempt) + ": " + task.payload + "\n";
        return skiplane::Result::Done();
      });
  if (!worker.ok()) return std::cerr << worker.status() << "\n", 1;
  std::cin.get();
}
