#include "completion/reply/stop_matcher.hpp"

#include <algorithm>
#include <utility>

namespace luce::completion {

namespace {

std::vector<size_t> borders(const std::string& text) {
  std::vector<size_t> border(text.size(), 0);
  for (size_t i = 1; i < text.size(); ++i) {
    size_t length = border[i - 1];
    while (length > 0 && text[i] != text[length]) length = border[length - 1];
    border[i] = text[i] == text[length] ? length + 1 : 0;
  }
  return border;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) {
  for (std::string& stop : stops) {
    if (stop.empty()) continue;
    std::vector<size_t> fallback = borders(stop);
    stops_.push_back({.text = std::move(stop), .fallback = std::move(fallback)});
  }
}

void StopMatcher::advance(Stop& stop, char next) const {
  while (stop.matched > 0 && stop.text[stop.matched] != next) stop.matched = stop.fallback[stop.matched - 1];
  if (stop.text[stop.matched] == next) ++stop.matched;
}

// Whether a stop string is complete with this byte.
bool StopMatcher::read(char next) {
  pending_.push_back(next);
  for (size_t i = 0; i < stops_.size(); ++i) {
    advance(stops_[i], next);
    if (stops_[i].matched < stops_[i].text.size()) continue;
    if (matched_ < 0 || stops_[i].text.size() > stops_[matched_].text.size()) matched_ = static_cast<int>(i);
  }
  return stopped();
}

std::string StopMatcher::push(std::string_view text) {
  if (stopped()) return {};
  for (const char next : text) {
    if (!read(next)) continue;
    std::string kept = pending_.substr(0, pending_.size() - stops_[matched_].text.size());
    pending_.clear();
    return kept;
  }
  size_t waiting = 0;
  for (const Stop& stop : stops_) waiting = std::max(waiting, stop.matched);
  std::string certain = pending_.substr(0, pending_.size() - waiting);
  pending_.erase(0, certain.size());
  return certain;
}

std::string StopMatcher::flush() {
  for (Stop& stop : stops_) stop.matched = 0;
  return std::exchange(pending_, {});
}

}  // namespace luce::completion
