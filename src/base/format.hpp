#pragma once

#include <fmt/format.h>  // IWYU pragma: export

// fmt::format and fmt::join for the folders above; they include this header instead of the library's own.
