#include "text/jinja/arguments.hpp"

#include <algorithm>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/sequences.hpp"

namespace luce::text::jinja {

Arguments::Arguments(const ArgumentList& list, Frame& frame) {
  positional.reserve(list.positional.size());
  for (const ExpressionPtr& argument : list.positional) positional.push_back(argument->evaluate(frame));
  if (list.rest) {
    for (Value& item : iterate(frame.heap(), list.rest->evaluate(frame))) positional.push_back(std::move(item));
  }
  for (const auto& [name, argument] : list.keyword)
    keyword.emplace_back(String::literal(name), argument->evaluate(frame));
  if (!list.keyword_rest) return;
  const Value more = list.keyword_rest->evaluate(frame);
  if (!more.is(Kind::dict)) raise("argument after ** must be a mapping, not {}", type_name(more));
  for (const auto& [name, value] : more.dict().entries()) keyword.emplace_back(to_text(name, "keyword"), value);
}

const Value* Arguments::find(std::string_view name) const {
  const auto found =
      std::find_if(keyword.begin(), keyword.end(), [&](const auto& entry) { return entry.first.view() == name; });
  return found == keyword.end() ? nullptr : &found->second;
}

const Value* Arguments::find(size_t index, std::string_view name) const {
  return index < positional.size() ? &positional[index] : find(name);
}

const Value& Arguments::need(size_t index, std::string_view name) const {
  const Value* found = find(index, name);
  if (found == nullptr) raise("missing a required argument: '{}'", name);
  return *found;
}

Integer Arguments::integer(size_t index, std::string_view name, Integer otherwise) const {
  const Value* found = find(index, name);
  return found == nullptr ? otherwise : to_integer(*found, name);
}

bool Arguments::boolean(size_t index, std::string_view name, bool otherwise) const {
  const Value* found = find(index, name);
  return found == nullptr ? otherwise : found->truthy();
}

String Arguments::string(size_t index, std::string_view name, const String& otherwise) const {
  const Value* found = find(index, name);
  return found == nullptr ? otherwise : to_text(*found, name);
}

void Arguments::at_most(size_t most, std::string_view function) const {
  if (positional.size() > most) {
    raise("{}() takes at most {} arguments ({} given)", function, most, positional.size());
  }
}

Integer to_integer(const Value& value, std::string_view name) {
  if (!value.is_integer()) raise("{}: an integer is required, not '{}'", name, type_name(value));
  return value.integer();
}

const String& to_text(const Value& value, std::string_view name) {
  if (value.is_undefined()) require_defined(value);
  if (!value.is_string()) raise("{}: a str is required, not '{}'", name, type_name(value));
  return value.string();
}

size_t to_count(Integer value) {
  constexpr Integer kMost = Integer{1} << 40;
  return static_cast<size_t>(std::clamp<Integer>(value, 0, kMost));
}

}  // namespace luce::text::jinja
