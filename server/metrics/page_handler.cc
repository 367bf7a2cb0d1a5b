#include "server/metrics/page_handler.h"

#include <zlib.h>

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace skiplane::metrics {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // the largest window, with gzip's header
constexpr int kGzipMemory = 8;

// Empty if there is no memory for it.
std::string Gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindowBits, kGzipMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(is_done ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
}

std::string Header(size_t bytes, bool is_packed) {
  return absl::StrCat("HTTP/1.1 200 OK\r\n",
                      "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
                      is_packed ? "Content-Encoding: gzip\r\n" : "", "Content-Length: ", bytes,
                      "\r\n\r\n");
}

bool TakesGzip(const mg_connection* connection) {
  const char* const accepted = mg_get_header(connection, "Accept-Encoding");
  return accepted != nullptr && absl::StrContains(accepted, "gzip");
}

void Send(mg_connection* connection, const std::string& bytes) {
  mg_write(connection, bytes.data(), bytes.size());
}

}  // namespace

PageHandler::PageHandler(std::function<std::string()> page, Registry& registry)
    : page_(std::move(page)),
      scrapes_(NewCounter(registry, "skiplane_scrapes_total", "Scrapes answered.").Add({})),
      bytes_(NewCounter(registry, "skiplane_scraped_bytes_total",
                        "Bytes of this page sent, as compressed.")
                 .Add({})),
      seconds_(NewHistogram(registry, "skiplane_scrape_duration_seconds",
                            "Time of a scrape, from making this page to sending its end.")
                   .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.005, 0.025, 0.1,
                                                                    0.5, 2.5})) {}

bool PageHandler::handleGet(CivetServer*, mg_connection* connection) {
  const auto start = std::chrono::steady_clock::now();
  std::string body = page_();
  std::string packed = TakesGzip(connection) ? Gzip(body) : "";
  const bool is_packed = !packed.empty();
  if (is_packed) body = std::move(packed);
  Send(connection, Header(body.size(), is_packed));
  Send(connection, body);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  scrapes_.Increment();
  bytes_.Increment(static_cast<double>(body.size()));
  seconds_.Observe(took.count());
  return true;
}

bool PageHandler::handleHead(CivetServer*, mg_connection* connection) {
  Send(connection, Header(page_().size(), false));
  return true;
}

}  // namespace skiplane::metrics
