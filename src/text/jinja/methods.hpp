#pragma once

#include <memory>
#include <string_view>

#include "text/jinja/arguments.hpp"

namespace luce::text::jinja {

using Method = Value (*)(Frame& frame, const Value& self, Arguments& arguments);

/// The method of a built-in type, null if it has none of that name.
Method find_method(const Value& self, std::string_view name);
Method find_string_method(std::string_view name);
Method find_list_method(std::string_view name);
Method find_dict_method(std::string_view name);

/// A method together with its object, as `text.upper` without a call gives it.
std::shared_ptr<Object> bind_method(Heap& heap, Value self, Method method);

}  // namespace luce::text::jinja
