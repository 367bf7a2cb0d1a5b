// Puts one encrypted task into the queue "letters", which it makes if need be.
// ADDRESS KEY_FILE, and the letter from standard input.
#include <iostream>
#include <iterator>
#include <string>

#include "aes_gcm_codec.h"
#include "skiplane/client.h"

int main(int argc, char** argv) {
  if (argc != 3) return std::cerr << "ADDRESS KEY_FILE, and the letter from standard input\n", 2;
  auto codec = AesGcmCodec::FromFile(argv[2]);
  if (!codec.ok()) return std::cerr << codec.status() << "\n", 1;
  auto client = skiplane::Client::Connect({.addresses = {argv[1]}, .codec = *codec});
  auto queue = client.ok() ? client->CreateQueue("letters") : client.status();
  if (!queue.ok()) return std::cerr << queue.status() << "\n", 1;

  const std::string letter(std::istreambuf_iterator<char>(std::cin), {});
  auto task = client->Enqueue("letters", {.payload = letter, .content_type = "text/plain"});
  if (!task.ok()) return std::cerr << task.status() << "\n", 1;
  std::cout << task->task_id << " is committed\n";
}
