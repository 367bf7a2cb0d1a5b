// Addresses to listen on, as text: "127.0.0.1:7070", "[::1]:7070", "broker.internal:0". And the
// database's.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::config {

// What is wrong with `text` as a host and a port from 0 to 65535; empty if nothing.
std::string CheckAddress(absl::string_view text);

// The same for an address whose host is a number: no name is looked up.
std::string CheckNumericAddress(absl::string_view text);

// Whether `text` is the name of a machine, without a port.
bool IsHostName(absl::string_view text);

// Whether `text` is the origin of a page, as browsers spell it: "https://tools.example:8443".
bool IsOrigin(absl::string_view text);

// `origin`, which has been checked, as browsers send it: without the port that its scheme implies.
std::string OriginAsSent(absl::string_view origin);

// The host of an address, which has been checked, if it is a name; else empty.
std::string HostNameOf(absl::string_view address);

// What is wrong with `text` as PostgreSQL's URI; empty if nothing. It may hold a password, which is
// not repeated: neither here, nor by PostgreSQL's library as part of the host.
std::string CheckDatabaseUri(absl::string_view text);

// Whether only this machine can reach the address, which has been checked.
bool IsLoopback(absl::string_view address);

}  // namespace skiplane::config
