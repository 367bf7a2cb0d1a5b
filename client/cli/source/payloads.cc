// The sources that know payloads only: arguments, files, lines.
#include <istream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/read_file.h"
#include "client/cli/source/sources.h"
#include "client/cli/text/table.h"
#include "client/cli/text/utf8.h"

namespace skiplane::cli {
namespace {

class Payloads : public RecordSource {
 public:
  explicit Payloads(std::vector<std::string> payloads) : payloads_(std::move(payloads)) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    if (next_ == payloads_.size()) return std::nullopt;
    std::string& payload = payloads_[next_++];
    return Record{.place = absl::StrCat("payload ", next_),
                  .fields = {{"payload", std::move(payload)}}};
  }

 private:
  std::vector<std::string> payloads_;
  size_t next_ = 0;
};

class Files : public RecordSource {
 public:
  Files(std::vector<std::string> paths, FileNames names)
      : paths_(std::move(paths)), as_header_(names.as_header), as_key_(names.as_key) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    if (next_ == paths_.size()) return std::nullopt;
    const std::string& path = paths_[next_++];
    absl::StatusOr<std::string> payload = ReadPayload(path);
    if (!payload.ok()) return payload.status();
    Record record{.place = absl::StrCat("file ", path), .name = path == "-" ? "" : path};
    record.fields.emplace_back("payload", *std::move(payload));
    if (path == "-") return record;
    if (as_header_ && !Utf8IsValid(path)) {
      return UsageError(absl::StrCat("file ", OneLine(path), ": its name is not UTF-8, as the ",
                                     "header 'file' must be: rename it, or give a name with ",
                                     "--header file=NAME"));
    }
    if (as_key_) record.fields.emplace_back("key", path);
    if (as_header_) record.fields.emplace_back("headers.file", path);
    return record;
  }

 private:
  const std::vector<std::string> paths_;
  const bool as_header_;
  const bool as_key_;
  size_t next_ = 0;
};

class Lines : public RecordSource {
 public:
  explicit Lines(std::istream& in) : in_(in) {}

  absl::StatusOr<std::optional<Record>> Next() override {
    std::string line;
    if (!std::getline(in_, line)) return std::nullopt;
    return Record{.place = absl::StrCat("line ", ++line_),
                  .fields = {{"payload", std::move(line)}}};
  }

 private:
  std::istream& in_;
  size_t line_ = 0;
};

}  // namespace

std::unique_ptr<RecordSource> FromPayloads(std::vector<std::string> payloads) {
  return std::make_unique<Payloads>(std::move(payloads));
}

std::unique_ptr<RecordSource> FromFiles(std::vector<std::string> paths, FileNames names) {
  return std::make_unique<Files>(std::move(paths), names);
}

std::unique_ptr<RecordSource> FromLines(std::istream& in) { return std::make_unique<Lines>(in); }

}  // namespace skiplane::cli
