#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "completion/json.hpp"

namespace luce::server {

using completion::Json;

/// Throws Error{invalid_request} with `param` and a message that begins with it.
[[noreturn]] void refuse_field(const std::string& param, const std::string& complaint);

struct NumberRange {
  double least = 0;
  double most = 0;
};

/// Reads the fields of one JSON object; absent and null fields are nothing, wrong types and values out of range are
/// Error{invalid_request} with the field's full name as param().
class FieldReader {
 public:
  /// `prefix` stands before field names in errors, for example "stream_options.". The object must outlive the reader.
  explicit FieldReader(const Json& object, std::string prefix = {}) : object_(object), prefix_(std::move(prefix)) {}

  /// The value if it is present and not null.
  const Json* find(const char* name) const;
  std::string full_name(const char* name) const { return prefix_ + name; }

  std::optional<bool> boolean(const char* name) const;
  std::optional<double> number(const char* name, NumberRange range) const;
  std::optional<int> integer(const char* name, int least, int most) const;
  /// At most `most_bytes` long.
  std::optional<std::string> string(const char* name, size_t most_bytes) const;
  /// The object, or null if the field is absent.
  const Json* object(const char* name) const;

 private:
  const Json& object_;
  std::string prefix_;
};

}  // namespace luce::server
