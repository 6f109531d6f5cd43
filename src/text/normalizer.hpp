#pragma once

#include <string>
#include <string_view>

namespace luce::text {

/// Unicode normalisation form C of a valid text, in time linear in its length up to sorting runs of marks.
std::string normalize_nfc(std::string_view text);

}  // namespace luce::text
