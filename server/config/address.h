// Addresses to listen on, as text: "127.0.0.1:7070", "[::1]:7070", "broker.internal:0".
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace skiplane::config {

// What is wrong with `text` as a host and a port from 0 to 65535; empty if nothing.
std::string CheckAddress(absl::string_view text);

// The same for an address whose host is a number: no name is looked up.
std::string CheckNumericAddress(absl::string_view text);

// Whether only this machine can reach the address, which has been checked.
bool IsLoopback(absl::string_view address);

}  // namespace skiplane::config
