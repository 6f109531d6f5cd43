#include "server/field_reader.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::server {

void refuse_field(const std::string& param, const std::string& complaint) {
  throw Error(ErrorKind::invalid_request, fmt::format("'{}' {}", param, complaint), param);
}

const Json* FieldReader::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> FieldReader::boolean(const char* name) const {
  const Json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean())
    refuse_field(full_name(name), fmt::format("must be true or false, not {}", value->type_name()));
  return value->get<bool>();
}

std::optional<double> FieldReader::number(const char* name, NumberRange range) const {
  const Json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse_field(full_name(name), fmt::format("must be a number, not {}", value->type_name()));
  const double number = value->get<double>();
  if (!(number >= range.least && number <= range.most))
    refuse_field(full_name(name), fmt::format("must be from {} to {}, not {:g}", range.least, range.most, number));
  return number;
}

std::optional<int> FieldReader::integer(const char* name, int least, int most) const {
  const Json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse_field(full_name(name), fmt::format("must be an integer, not {}", value->type_name()));
  const double number = value->get<double>();
  if (number != std::floor(number)) refuse_field(full_name(name), "must be an integer, not a fraction");
  if (number < least || number > most)
    refuse_field(full_name(name), fmt::format("must be from {} to {}, not {:g}", least, most, number));
  return static_cast<int>(number);
}

std::optional<std::string> FieldReader::string(const char* name, size_t most_bytes) const {
  const Json* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse_field(full_name(name), fmt::format("must be a string, not {}", value->type_name()));
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() > most_bytes)
    refuse_field(full_name(name), fmt::format("must be at most {} bytes long, not {}", most_bytes, text.size()));
  return text;
}

const Json* FieldReader::object(const char* name) const {
  const Json* const value = find(name);
  if (value != nullptr && !value->is_object())
    refuse_field(full_name(name), fmt::format("must be an object, not {}", value->type_name()));
  return value;
}

}  // namespace luce::server
