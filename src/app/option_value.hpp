#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luce::app {

/// Readers of one option's text. All throw BadValue, which says what the text should have been.
int64_t parse_whole(const std::string& text, int64_t least, int64_t most);
double parse_decimal(const std::string& text, double least, double most);
bool parse_switch(const std::string& text);
/// A size in bytes, at least 0: "14GiB", "512 MiB", "4096".
int64_t parse_size(const std::string& text);
/// "30%" or "0.3": 0 to 1.
double parse_share(const std::string& text);
std::string parse_choice(const std::string& text, std::initializer_list<std::string_view> choices);
/// Comma-separated, blanks trimmed, empty parts dropped.
std::vector<std::string> parse_list(const std::string& text);

/// The shortest text that reads back as the number.
std::string show_number(double number);
std::string show_number(float number);
/// "16MiB": the largest unit that is exact.
std::string show_size(int64_t bytes);

}  // namespace luce::app
