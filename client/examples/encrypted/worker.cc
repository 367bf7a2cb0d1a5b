// Decrypts the tasks of the queue "letters", prints them, and puts each into "archive", encrypted
// again; until Enter is pressed. ADDRESS KEY_FILE.
#include <iostream>
#include <string>

#include "aes_gcm_codec.h"
#include "skiplane/worker.h"

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "ADDRESS KEY_FILE\n", 2;
  auto codec = AesGcmCodec::FromFile(argv[2]);
  if (!codec.ok()) return std::cerr << codec.status() << "\n", 1;
  auto client = skiplane::Client::Connect({.addresses = {argv[1]}, .codec = *codec});
  auto queue = client.ok() ? client->CreateQueue("archive") : client.status();
  if (!queue.ok()) return std::cerr << queue.status() << "\n", 1;

  auto worker = skiplane::Worker::Start(
      *client,
      {.queues = {{.name = "letters"}},
       .on_error = [](const absl::Status& status) { std::cerr << status << "\n"; }},
      [](const skiplane::LeasedTask& task, skiplane::Attempt&) {
        // An error's text is not encrypted: it says nothing of the letter.
        if (task.payload.empty()) return skiplane::Result::Fail({.type = "EmptyLetter"});
        const std::string said = "attempt " + std::to_string(task.attempt) + ": " + task.payload;
        std::cout << said + "\n" << std::flush;
        skiplane::AckMore more;
        more.follow_ups.push_back({.payload = task.payload, .queue = "archive"});
        return skiplane::Result::Done("read: " + task.payload, more);
      });
  if (!worker.ok()) return std::cerr << worker.status() << "\n", 1;
  std::cin.get();
}
