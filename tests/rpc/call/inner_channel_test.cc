#include "server/rpc/call/inner_channel.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace skiplane::rpc {
namespace {

TEST(InnerChannel, ClosingWaitsForWhoBeginsAndLetsNobodyBeginAnyMore) {
  InnerChannel channel(nullptr);
  std::atomic<bool> is_closed = false;
  std::thread closer;
  const auto begins = [&] { return channel.Begin([](const InnerChannel::ChannelPtr&) {}); };
  EXPECT_TRUE(channel.Begin([&](const InnerChannel::ChannelPtr&) {
    closer = std::thread([&] {
      channel.Close();
      is_closed = true;
    });
    while (begins()) std::this_thread::yield();  // until it has begun to close
    EXPECT_FALSE(is_closed);
  }));
  closer.join();
  EXPECT_FALSE(begins());
  channel.Close();
}

}  // namespace
}  // namespace skiplane::rpc
