// The kinds of record sources. Streams must outlive them.
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/source/csv.h"
#include "client/cli/source/record.h"

namespace skiplane::cli {

// Each text is the payload of a task.
std::unique_ptr<RecordSource> FromPayloads(std::vector<std::string> payloads);

// What becomes of the names of files, as they were given.
struct FileNames {
  bool as_header = true;  // "file"
  bool as_key = false;
};

// Each file's content is the payload of a task; "-" is standard input, which has no name.
std::unique_ptr<RecordSource> FromFiles(std::vector<std::string> paths, FileNames names);

// Each line is the payload of a task.
std::unique_ptr<RecordSource> FromLines(std::istream& in);

// Each line is a JSON object whose members are fields. A payload that is no string is taken as the
// JSON text of its value; "headers" is an object. Empty lines are skipped, null members left out.
std::unique_ptr<RecordSource> FromJsonLines(std::istream& in, Renames renames);

// Each row is a task. Without `columns` the first row names them. Cells without a value are left
// out.
std::unique_ptr<RecordSource> FromRows(RowReader reader, std::vector<std::string> columns,
                                       Renames renames);

}  // namespace skiplane::cli
