#pragma once

#include <string_view>

#include "text/jinja/arguments.hpp"

namespace luce::text::jinja {

/// `value is test(arguments)`
using Test = bool (*)(Frame& frame, const Value& value, Arguments& arguments);

/// Null if there is no test of that name.
Test find_test(std::string_view name);
/// Runs a test by its name, as select() does. Throws TemplateError if there is none.
bool run_test(Frame& frame, std::string_view name, const Value& value, Arguments& arguments);

}  // namespace luce::text::jinja
