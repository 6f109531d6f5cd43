#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/heap.hpp"
#include "text/jinja/string.hpp"

namespace luce::text::jinja {

class Value;
class List;
class Dict;
class Object;

/// Wide enough for every number that JSON carries; what does not fit is an error.
using Integer = __int128;

/// A value that is not there; printing it gives nothing, using it is the error that `why` tells.
struct Undefined {
  std::shared_ptr<const std::string> why;
};
struct None {};

enum class Kind : uint8_t { undefined, none, boolean, integer, real, string, list, dict, object };

/// A value of the template language. Containers are shared, not copied, as in Python.
class Value {
 public:
  Value() = default;
  // Whatever a template can hold becomes a value by itself.
  // NOLINTBEGIN(google-explicit-constructor)
  Value(None) : data_(None{}) {}
  Value(Undefined undefined) : data_(std::move(undefined)) {}
  Value(bool boolean) : data_(boolean) {}
  Value(Integer integer) : data_(integer) {}
  Value(int integer) : data_(Integer{integer}) {}
  Value(size_t integer) : data_(Integer{integer}) {}
  Value(double real) : data_(real) {}
  Value(String string) : data_(std::move(string)) {}
  Value(const char*) = delete;
  Value(std::shared_ptr<List> list) : data_(std::move(list)) {}
  Value(std::shared_ptr<Dict> dict) : data_(std::move(dict)) {}
  template <typename T>
  requires std::is_base_of_v<Object, T> Value(std::shared_ptr<T> object)
      : data_(std::shared_ptr<Object>(std::move(object))) {}
  // NOLINTEND(google-explicit-constructor)

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind kind_of_value) const { return kind() == kind_of_value; }
  bool is_undefined() const { return is(Kind::undefined); }
  bool is_none() const { return is(Kind::none); }
  bool is_string() const { return is(Kind::string); }
  bool is_number() const { return is(Kind::boolean) || is(Kind::integer) || is(Kind::real); }

  // The kind must be the right one.
  bool boolean() const { return std::get<bool>(data_); }
  double real() const { return std::get<double>(data_); }
  const String& string() const { return std::get<String>(data_); }
  std::string_view view() const { return string().view(); }
  List& list() const { return *std::get<std::shared_ptr<List>>(data_); }
  Dict& dict() const { return *std::get<std::shared_ptr<Dict>>(data_); }
  Object& object() const { return *std::get<std::shared_ptr<Object>>(data_); }
  const std::shared_ptr<Object>& object_pointer() const { return std::get<std::shared_ptr<Object>>(data_); }
  const Undefined& undefined() const { return std::get<Undefined>(data_); }
  /// Of an integer or boolean.
  Integer integer() const { return is(Kind::boolean) ? Integer{boolean()} : std::get<Integer>(data_); }
  bool is_integer() const { return is(Kind::integer) || is(Kind::boolean); }
  /// Of any number.
  double as_real() const { return is(Kind::real) ? real() : static_cast<double>(integer()); }
  template <typename T>
  T* as_object() const {
    return is(Kind::object) ? dynamic_cast<T*>(&object()) : nullptr;
  }

  bool truthy() const;
  /// Same object, or same value where values have no identity.
  bool same_as(const Value& other) const;

 private:
  std::variant<Undefined, None, bool, Integer, double, String, std::shared_ptr<List>, std::shared_ptr<Dict>,
               std::shared_ptr<Object>>
      data_;
};

Value undefined(std::string why);

/// The name of a value's type in Python, for messages.
std::string_view type_name(const Value& value);

}  // namespace luce::text::jinja
