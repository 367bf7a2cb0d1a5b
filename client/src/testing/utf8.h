// Which texts a broker can read at all: it refuses a whole message that has one that is not UTF-8.
#pragma once

#include "absl/strings/string_view.h"
#include "skiplane/calls.h"
#include "skiplane/new_task.h"
#include "skiplane/settle.h"

namespace skiplane::internal {

bool IsUtf8(absl::string_view text);

// Of all texts in it. Payloads, results and the texts of errors may be any bytes.
bool IsUtf8(const NewTask& task);
bool IsUtf8(const EnqueueCall& call);
bool IsUtf8(const LeaseCall& call);
bool IsUtf8(const SettleItem& item);

}  // namespace skiplane::internal
