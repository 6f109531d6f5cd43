#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luce::completion {

/// Finds the stop string that is complete first in a streamed text; of several that end at the same byte the longest.
class StopMatcher {
 public:
  /// Empty stop strings are ignored.
  explicit StopMatcher(std::vector<std::string> stops);

  /// The text that is certain to stay, including what waited before. Nothing is read after a match.
  std::string push(std::string_view text);
  /// What waits because it could begin a stop string.
  std::string flush();

  size_t waiting_bytes() const { return pending_.size(); }
  bool stopped() const { return matched_ >= 0; }
  /// The stop string that was found, empty if none was.
  std::string matched() const { return stopped() ? stops_[matched_].text : std::string(); }

 private:
  struct Stop {
    std::string text;
    std::vector<size_t> fallback;  // Knuth-Morris-Pratt: length of the longest border of each prefix
    size_t matched = 0;            // bytes of it that the text ends with
  };

  void advance(Stop& stop, char next) const;
  bool read(char next);

  std::vector<Stop> stops_;
  std::string pending_;
  int matched_ = -1;
};

}  // namespace luce::completion
