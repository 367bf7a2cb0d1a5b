// What can be known of the terminal, if there is one, and asked of the person before it.
#pragma once

#include <string>

namespace skiplane::cli {

// Whether the descriptor (0, 1 or 2) is a terminal.
bool IsTerminal(int descriptor);

// Whether what goes to standard output may be coloured: it is a terminal that knows colours, and
// nobody has set NO_COLOR.
bool WantsColor();

// The columns of the terminal on standard output; 0 if it is none, which means: do not cut.
int TerminalWidth();

// Writes the question to standard error and reads a line: true for "y" or "yes".
bool Ask(const std::string& question);

// "user@host", for the audit records.
std::string DefaultActor();

}  // namespace skiplane::cli
