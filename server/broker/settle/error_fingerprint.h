// The fingerprint of an error whose worker gave none: equal for failures of one type whose texts
// differ only in what varies from one to the next, such as numbers, ids, addresses and quoted
// values. The type is taken literally: the digits of HTTP404 and HTTP500 distinguish two faults.
#pragma once

#include <string>

#include "server/model/task.h"

namespace skiplane::broker {

// 16 hexadecimal digits, the same in every broker and version.
std::string ErrorFingerprint(const model::TaskError& error);

}  // namespace skiplane::broker
