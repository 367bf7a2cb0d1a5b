// HTTP requests and answers as values. Names of fields are lower case.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace skiplane::http {

using Field = std::pair<std::string, std::string>;
using Fields = std::vector<Field>;

// The value of the first field of that name; empty if there is none.
absl::string_view FindField(const Fields& fields, absl::string_view name);

// What comes before the body.
struct Head {
  std::string method;  // "POST"
  std::string path;    // begins with a slash; without the query
  Fields fields;
  int minor_version = 1;  // of HTTP/1

  absl::string_view Find(absl::string_view name) const { return FindField(fields, name); }
  // How many fields have that name.
  size_t Count(absl::string_view name) const;
};

struct Caller {
  std::string address;  // as gRPC spells it: "ipv4:127.0.0.1:40000"
  std::string name;     // in its certificate; empty: it has shown none
  absl::Time certificate_expires = absl::InfiniteFuture();
};

struct Request {
  Head head;
  std::string body;
  Caller caller;
};

struct Response {
  int status = 200;
  std::string content_type;  // empty: no such field
  std::string body;
  Fields fields = {};
};

Response With(Response response, const Fields& further);

// What goes before the body. `closes`: no further request is read from this connection.
struct Framing {
  // kUntold: it is left out, and its length is not known.
  enum class Body { kLength, kChunks, kToTheEnd, kUntold };
  Body body = Body::kLength;
  bool closes = false;
};
std::string HeadText(const Response& response, Framing framing, absl::Time now);

// One part of a body that is sent in chunks; an empty one ends it.
std::string Chunk(absl::string_view bytes);

}  // namespace skiplane::http
