#include "server/http/connect/strict_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/base/reason.h"

namespace skiplane::http::connect {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// As that of protobuf's own parser, which takes the stack for it.
constexpr size_t kDepthMax = 100;

// Either spelling, as protobuf's mapping has it; null if there is none.
const FieldDescriptor* FieldOf(const Descriptor& type, const std::string& name) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* const field = type.field(i);
    if (field->json_name() == name || field->name() == name) return field;
  }
  return nullptr;
}

// Times, durations and masks are texts.
bool IsObject(const FieldDescriptor& field) {
  return field.message_type() != nullptr &&
         field.message_type()->file()->package() != "google.protobuf";
}

bool IsOf(const FieldDescriptor& field, absl::string_view message) {
  return field.message_type() != nullptr && field.message_type()->full_name() == message;
}

// Takes the digits at the beginning; how many there were.
size_t TakeDigits(absl::string_view* text) {
  const auto* const end = std::find_if_not(text->begin(), text->end(), &absl::ascii_isdigit);
  const auto count = static_cast<size_t>(end - text->begin());
  text->remove_prefix(count);
  return count;
}

bool IsDuration(absl::string_view text) {
  absl::ConsumePrefix(&text, "-");
  if (TakeDigits(&text) == 0) return false;
  if (absl::ConsumePrefix(&text, ".")) {
    const size_t decimals = TakeDigits(&text);
    if (decimals == 0 || decimals > 9) return false;
  }
  return text == "s";
}

// Follows the events of nlohmann's SAX parser, whose names its methods have, through the fields of
// a message. The first thing that has no place there stops the parser.
class JsonShape {
 public:
  explicit JsonShape(const Descriptor& type) : type_(type) {}

  // OK if the parser came to the end.
  const absl::Status& status() const { return status_; }

  // For the parser; false stops it.
  bool null() { return Enter(Kind::kNull); }
  bool boolean(bool /*value*/) { return Enter(Kind::kScalar); }
  bool number_integer(int64_t /*value*/) { return Enter(Kind::kScalar); }
  bool number_unsigned(uint64_t /*value*/) { return Enter(Kind::kScalar); }
  bool number_float(double /*value*/, const std::string& /*text*/) { return Enter(Kind::kScalar); }
  bool string(const std::string& text);
  bool binary(const nlohmann::json::binary_t& /*bytes*/) { return Enter(Kind::kScalar); }
  bool start_object(size_t /*size*/);
  bool key(const std::string& name);
  bool end_object() { return Leave(); }
  bool start_array(size_t /*size*/);
  bool end_array() { return Leave(); }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::json::exception& error);

 private:
  enum class Kind { kNull, kScalar, kObject, kList };
  // What is open: a message of `type`, a list or a map.
  struct Level {
    const Descriptor* type = nullptr;
    bool is_list = false;
    bool is_map = false;
    // Of a message the one that comes; of a list or map the one of all that come.
    const FieldDescriptor* field = nullptr;
    int64_t index = -1;     // of the last element of a list
    size_t seen_begin = 0;  // in seen_
  };

  // A value comes.
  bool Enter(Kind kind);
  bool EnterField(const FieldDescriptor& field, Kind kind);
  bool EnterOne(const FieldDescriptor& field, Kind kind);
  bool Open(Level level);
  bool Leave();
  std::string Path() const;
  bool Blame(absl::string_view why);
  bool BlameAt(absl::string_view path, absl::string_view why);

  const Descriptor& type_;
  std::vector<Level> levels_;
  // The fields that came, of each message that is open, behind those of the one around it.
  std::vector<const FieldDescriptor*> seen_;
  absl::Status status_;
};

bool JsonShape::start_object(size_t /*size*/) {
  if (levels_.empty()) return Open({.type = &type_});
  if (!Enter(Kind::kObject)) return false;
  const Level& around = levels_.back();
  const Descriptor& type = *around.field->message_type();
  if (around.field->is_map() && !around.is_map) {
    return Open({.is_map = true, .field = type.map_value()});
  }
  return Open({.type = &type});
}

bool JsonShape::key(const std::string& name) {
  Level& level = levels_.back();
  if (level.is_map) return true;
  level.field = FieldOf(*level.type, name);
  if (level.field == nullptr) {
    const std::string around = Path();
    return BlameAt(absl::StrCat(around, around.empty() ? "" : ".", name),
                   absl::StrCat(level.type->full_name(), " has no such field"));
  }
  const auto begin = seen_.begin() + static_cast<std::ptrdiff_t>(level.seen_begin);
  if (std::find(begin, seen_.end(), level.field) != seen_.end()) return Blame("stands here twice");
  seen_.push_back(level.field);
  return true;
}

bool JsonShape::string(const std::string& text) {
  if (!Enter(Kind::kScalar)) return false;
  // Protobuf's parser takes " 5s" and "+5 s" for a duration, and drops the space of " 7".
  const FieldDescriptor& field = *levels_.back().field;
  const bool is_text = field.type() == FieldDescriptor::TYPE_STRING;
  if (!is_text && absl::StripAsciiWhitespace(text).size() != text.size()) {
    return Blame("has white space around its value");
  }
  return !IsOf(field, "google.protobuf.Duration") || IsDuration(text) ||
         Blame("must be a number of seconds with up to nine decimals and an s, as in \"1.5s\"");
}

bool JsonShape::start_array(size_t /*size*/) {
  return Enter(Kind::kList) && Open({.is_list = true, .field = levels_.back().field});
}

bool JsonShape::parse_error(size_t position, const std::string& /*token*/,
                            const nlohmann::json::exception& /*error*/) {
  status_ = base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                         absl::StrCat("the body is no ", type_.full_name(),
                                      ": it is not JSON, or ends too early, at byte ", position));
  return false;
}

bool JsonShape::Enter(Kind kind) {
  if (levels_.empty()) return Blame("it must be an object");
  Level& level = levels_.back();
  if (level.type != nullptr) return EnterField(*level.field, kind);
  if (level.is_list) ++level.index;
  if (kind == Kind::kNull) {
    return Blame(level.is_list ? "null is no element of a list" : "null is no value of a map");
  }
  return EnterOne(*level.field, kind);
}

bool JsonShape::EnterField(const FieldDescriptor& field, Kind kind) {
  if (kind == Kind::kNull) return true;  // as if it were not there
  if (field.is_map()) return kind == Kind::kObject || Blame("must be an object of JSON");
  if (field.is_repeated()) return kind == Kind::kList || Blame("must be a list");
  return EnterOne(field, kind);
}

bool JsonShape::EnterOne(const FieldDescriptor& field, Kind kind) {
  if (IsObject(field)) return kind == Kind::kObject || Blame("must be an object of JSON");
  return kind == Kind::kScalar || Blame("must be a single value");
}

bool JsonShape::Open(Level level) {
  if (levels_.size() == kDepthMax) return Blame("is too deep in the body");
  level.seen_begin = seen_.size();
  levels_.push_back(level);
  return true;
}

bool JsonShape::Leave() {
  seen_.resize(levels_.back().seen_begin);
  levels_.pop_back();
  return true;
}

std::string JsonShape::Path() const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.is_list) {
      absl::StrAppend(&path, "[", level.index, "]");
    } else if (level.type != nullptr && level.field != nullptr) {
      absl::StrAppend(&path, path.empty() ? "" : ".", level.field->name());
    }
  }
  return path;
}

bool JsonShape::Blame(absl::string_view why) {
  const std::string path = Path();
  if (!path.empty()) return BlameAt(path, why);
  status_ = base::Refuse(absl::StatusCode::kInvalidArgument, "INVALID_FIELD",
                         absl::StrCat("the body is no ", type_.full_name(), ": ", why));
  return false;
}

bool JsonShape::BlameAt(absl::string_view path, absl::string_view why) {
  status_ = base::InvalidField(path, why);
  return false;
}

}  // namespace

absl::Status CheckJson(absl::string_view text, const Descriptor& type) {
  JsonShape shape(type);
  nlohmann::json::sax_parse(text.begin(), text.end(), &shape);
  return shape.status();
}

}  // namespace skiplane::http::connect
