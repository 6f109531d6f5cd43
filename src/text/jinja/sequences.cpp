#include "text/jinja/sequences.hpp"

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/methods.hpp"
#include "text/jinja/text_search.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

std::vector<Value> characters(Heap& heap, const String& text) {
  std::vector<Value> out;
  for (size_t at = 0; at < text.size();) {
    const size_t size = utf8_size(text.view()[at]);
    out.push_back(slice(heap, text, at, at + size));
    at += size;
  }
  heap.work(out.size());
  return out;
}

std::vector<Value> keys(const Dict& dict) {
  std::vector<Value> out;
  out.reserve(dict.size());
  for (const auto& [key, value] : dict.entries()) out.push_back(key);
  dict.heap().work(out.size());
  return out;
}

// How Jinja2 names a type in the message of an undefined value.
std::string described(const Value& object) {
  return object.is_none() ? "None" : std::string(type_name(object)) + " object";
}

Value no_attribute(const Value& object, std::string_view name) {
  return undefined("'" + described(object) + "' has no attribute '" + std::string(name) + "'");
}

Value no_element(Frame& frame, const Value& object, const Value& key) {
  if (key.is_string()) return no_attribute(object, key.view());
  StringBuilder out(frame.heap());
  print_repr(out, key);
  return undefined(described(object) + " has no element " + std::string(out.view()));
}

// Nothing if the index is outside.
std::optional<size_t> resolve_index(Integer index, size_t size) {
  if (index < 0) index += static_cast<Integer>(size);
  if (index < 0 || index >= static_cast<Integer>(size)) return std::nullopt;
  return static_cast<size_t>(index);
}

bool is_indexable(const List& list) {
  return list.flavor() == Flavor::list || list.flavor() == Flavor::tuple || list.flavor() == Flavor::range;
}

std::optional<Value> item_at(Frame& frame, const Value& object, Integer index) {
  if (object.is(Kind::list) && is_indexable(object.list())) {
    const auto at = resolve_index(index, object.list().size());
    if (at) return object.list().items()[*at];
  } else if (object.is_string()) {
    const String& text = object.string();
    if (!text.is_ascii()) frame.heap().work_on_bytes(4 * text.size());
    const auto at = resolve_index(index, text.length());
    if (!at) return std::nullopt;
    const size_t begin = text.offset_of(*at);
    return slice(frame.heap(), text, begin, begin + utf8_size(text.view()[begin]));
  }
  return std::nullopt;
}

}  // namespace

void require_defined(const Value& value) {
  if (!value.is_undefined()) return;
  const auto& why = value.undefined().why;
  raise("{}", why ? *why : "a value is undefined");
}

bool is_iterable(const Value& value) {
  return value.is_undefined() || value.is_string() || value.is(Kind::list) || value.is(Kind::dict);
}

std::vector<Value> iterate(Heap& heap, const Value& value) {
  switch (value.kind()) {
    case Kind::undefined: return {};
    case Kind::string: return characters(heap, value.string());
    case Kind::list: return value.list().take_items();
    case Kind::dict: return keys(value.dict());
    default: raise("'{}' object is not iterable", type_name(value));
  }
}

std::optional<size_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined: return 0;
    case Kind::string: return value.string().length();
    case Kind::list: return value.list().size();
    case Kind::dict: return value.dict().size();
    default: return std::nullopt;
  }
}

bool contains(Heap& heap, const Value& haystack, const Value& needle) {
  if (haystack.is_string()) {
    if (!needle.is_string()) raise("'in <string>' requires string as left operand, not {}", type_name(needle));
    return find_first(heap, haystack.view(), needle.view()) != kNotFound;
  }
  if (haystack.is(Kind::dict)) return haystack.dict().find(needle) != nullptr;
  if (!is_iterable(haystack)) raise("argument of type '{}' is not iterable", type_name(haystack));
  for (const Value& item : iterate(heap, haystack)) {
    if (equal(heap, item, needle)) return true;
  }
  return false;
}

Value get_attribute(Frame& frame, const Value& object, std::string_view name) {
  require_defined(object);
  if (object.is(Kind::object)) {
    Value found = object.object().attribute(frame, name);
    return found.is_undefined() && !found.undefined().why ? no_attribute(object, name) : found;
  }
  if (object.is(Kind::list)) {
    if (const Value* found = object.list().named_item(name)) return *found;
  }
  if (const Method method = find_method(object, name)) return bind_method(frame.heap(), object, method);
  if (object.is(Kind::dict)) {
    if (const Value* found = object.dict().find(name)) return *found;
  }
  return no_attribute(object, name);
}

Value get_item(Frame& frame, const Value& object, const Value& key) {
  require_defined(object);
  if (object.is(Kind::dict) && !key.is(Kind::dict) && !(key.is(Kind::list) && key.list().flavor() != Flavor::tuple)) {
    if (const Value* found = object.dict().find(key)) return *found;
  }
  if (key.is_integer()) {
    if (auto found = item_at(frame, object, key.integer())) return *found;
  }
  if (key.is_string()) {
    if (object.is(Kind::object)) return get_attribute(frame, object, key.view());
    if (const Method method = find_method(object, key.view())) return bind_method(frame.heap(), object, method);
  }
  return no_element(frame, object, key);
}

}  // namespace luce::text::jinja
