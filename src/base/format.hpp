#pragma once

// Text formatting for folders that do not use fmt themselves (gcc 12 has no std::format): fmt::format, fmt::print,
// fmt::join.
#include <fmt/format.h>  // IWYU pragma: export
#include <fmt/ranges.h>  // IWYU pragma: export
