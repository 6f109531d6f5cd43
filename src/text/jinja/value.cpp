#include "text/jinja/value.hpp"

#include "text/jinja/containers.hpp"

namespace luce::text::jinja {

Value undefined(std::string why) { return Undefined{std::make_shared<const std::string>(std::move(why))}; }

bool Value::truthy() const {
  switch (kind()) {
    case Kind::undefined:
    case Kind::none: return false;
    case Kind::boolean: return boolean();
    case Kind::integer: return integer() != 0;
    case Kind::real: return real() != 0;
    case Kind::string: return !string().empty();
    case Kind::list: return list().flavor() == Flavor::generator || list().size() != 0;
    case Kind::dict: return dict().size() != 0;
    case Kind::object: return true;
  }
  return false;
}

bool Value::same_as(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::undefined:
    case Kind::none: return true;
    case Kind::boolean: return boolean() == other.boolean();
    case Kind::integer: return integer() == other.integer();
    case Kind::real: return real() == other.real();
    case Kind::string: return view() == other.view();
    case Kind::list: return &list() == &other.list();
    case Kind::dict: return &dict() == &other.dict();
    case Kind::object: return &object() == &other.object();
  }
  return false;
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined: return "Undefined";
    case Kind::none: return "NoneType";
    case Kind::boolean: return "bool";
    case Kind::integer: return "int";
    case Kind::real: return "float";
    case Kind::string: return value.string().is_markup() ? "Markup" : "str";
    case Kind::list: break;
    case Kind::dict: return "dict";
    case Kind::object: return value.object().type_name();
  }
  switch (value.list().flavor()) {
    case Flavor::list: return "list";
    case Flavor::tuple: return "tuple";
    case Flavor::range: return "range";
    case Flavor::generator: return "generator";
    case Flavor::keys: return "dict_keys";
    case Flavor::values: return "dict_values";
    case Flavor::items: return "dict_items";
  }
  return "list";
}

}  // namespace luce::text::jinja
