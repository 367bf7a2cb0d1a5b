#include "server/http/request_parser.h"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/parser.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace skiplane::http {

namespace beast = boost::beast::http;

namespace {

// As Beast's string_body, but it takes memory for what came, not for what was announced.
struct Body {
  using value_type = std::string;

  class reader {
   public:
    template <bool isRequest, typename Fields>
    reader(beast::header<isRequest, Fields>& /*head*/, std::string& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>& /*length*/, boost::system::error_code& error) {
      error = {};
    }
    template <typename Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      const size_t before = body_.size();
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
      }
      return body_.size() - before;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    std::string& body_;
  };
};

// Of the size and the extension of a chunk, or of all fields behind the last one. Beast has no
// bound for them, and takes none of it before it has all.
constexpr size_t kBetweenChunksMax = 8 << 10;

// The least that is left of a body in chunks before it has ended: "0", and two ends of a line.
// Beast expects to be shown that much.
constexpr size_t kChunkedEndBytes = 5;

RequestParser::Event EventOf(const boost::system::error_code& error) {
  if (error == beast::error::need_more) return RequestParser::Event::kMore;
  if (error == beast::error::header_limit) return RequestParser::Event::kHeadTooLarge;
  if (error == beast::error::body_limit) return RequestParser::Event::kBodyTooLarge;
  return RequestParser::Event::kMalformed;
}

std::string TextOf(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestParser::State {
  beast::request_parser<Body> parser;
};

RequestParser::RequestParser(size_t head_bytes_max, size_t body_bytes_max)
    : head_bytes_max_(head_bytes_max), state_(std::make_unique<State>()) {
  state_->parser.header_limit(static_cast<std::uint32_t>(head_bytes_max));
  state_->parser.body_limit(body_bytes_max);
}

RequestParser::~RequestParser() = default;

RequestParser::Step RequestParser::Read(absl::string_view bytes) {
  if (is_chunked_ && bytes.size() < kChunkedEndBytes) return {};
  boost::system::error_code error;
  Step step;
  step.taken = state_->parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error && error != beast::error::need_more) {
    step.event = EventOf(error);
    // Of a body that is announced as too large Beast tells before it tells of the head.
    if (step.event == Event::kBodyTooLarge && !has_head_) TakeHead();
    return step;
  }
  if (!has_head_) head_bytes_ += step.taken;
  step.event = Judge(bytes.size() - step.taken);
  return step;
}

// `left`: how many bytes were shown and not taken.
RequestParser::Event RequestParser::Judge(size_t left) {
  if (has_head_) {
    if (state_->parser.is_done()) return Event::kDone;
    return left > kBetweenChunksMax ? Event::kMalformed : Event::kMore;
  }
  has_head_ = state_->parser.is_header_done();
  // Beast's own limit is for what is shown at once.
  if (head_bytes_ + (has_head_ ? 0 : left) > head_bytes_max_) return Event::kHeadTooLarge;
  if (!has_head_) return Event::kMore;
  return TakeHead() ? Event::kHead : Event::kMalformed;
}

bool RequestParser::TakeHead() {
  const auto& message = state_->parser.get();
  head_.method = TextOf(message.method_string());
  head_.minor_version = static_cast<int>(message.version() % 10);
  for (const auto& field : message) {
    std::string name = TextOf(field.name_string());
    absl::AsciiStrToLower(&name);
    head_.fields.emplace_back(std::move(name), TextOf(field.value()));
  }
  TakeTarget({message.target().data(), message.target().size()});
  is_chunked_ = message.chunked();
  state_->parser.eager(true);  // from now on all that there is at once
  return absl::StartsWith(head_.path, "/") && message.version() / 10 == 1 && HasClearLength();
}

// A whole URL counts in place of Host, as proxies send it.
void RequestParser::TakeTarget(absl::string_view target) {
  if (absl::StartsWithIgnoreCase(target, "http://") ||
      absl::StartsWithIgnoreCase(target, "https://")) {
    target.remove_prefix(target.find("//") + 2);
    const absl::string_view authority = target.substr(0, target.find_first_of("/?"));
    target.remove_prefix(authority.size());
    for (auto& [name, value] : head_.fields) {
      if (name == "host") value = std::string(authority);
    }
    if (!absl::StartsWith(target, "/")) head_.path = "/";
  }
  absl::StrAppend(&head_.path, target.substr(0, target.find('?')));
}

// Another encoding than chunks would leave open where the request ends, and HTTP/1.0 has none.
bool RequestParser::HasClearLength() const {
  return std::all_of(head_.fields.begin(), head_.fields.end(), [this](const Field& field) {
    return field.first != "transfer-encoding" ||
           (head_.minor_version > 0 && absl::EqualsIgnoreCase(field.second, "chunked"));
  });
}

bool RequestParser::IsDone() const { return state_->parser.is_done(); }

// Who speaks HTTP/1.0 expects the end of the connection unless it is told otherwise.
bool RequestParser::KeepsConnection() const {
  return head_.minor_version > 0 && state_->parser.get().keep_alive();
}

bool RequestParser::ExpectsContinue() const {
  return head_.minor_version > 0 && absl::EqualsIgnoreCase(head_.Find("expect"), "100-continue");
}

size_t RequestParser::body_bytes() const { return state_->parser.get().body().size(); }

std::string RequestParser::TakeBody() { return std::move(state_->parser.get().body()); }

}  // namespace skiplane::http
