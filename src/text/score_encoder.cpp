#include "text/score_encoder.hpp"

#include <algorithm>

#include "text/blanks.hpp"
#include "text/utf8.hpp"

namespace luce::text {
namespace {

constexpr int32_t kEnd = -1;

struct Part {
  size_t begin;
  size_t size;  // 0 once merged into its left neighbour
  int32_t previous;
  int32_t next;
};

struct Candidate {
  float score;
  int32_t left;
  size_t size;  // of both parts when this was queued; if changed, it is outdated

  bool operator<(const Candidate& other) const {  // for a heap with the best on top
    return score != other.score ? score < other.score : left > other.left;
  }
};

}  // namespace

struct ScoreEncoder::Chain {
  std::string_view text;
  std::vector<Part> parts;
  std::vector<Candidate> queue;
};

ScoreEncoder::ScoreEncoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.type(id) != TokenType::normal) continue;
    longest_bytes_ = std::max(longest_bytes_, vocabulary.text(id).size());
    spans_words_ = spans_words_ || spans_words(vocabulary.text(id));
  }
}

void ScoreEncoder::begin_chain(std::string_view text, Chain& chain) const {
  chain.text = text;
  chain.parts.clear();
  chain.queue.clear();
  for (size_t at = 0; at < text.size();) {
    const size_t size = std::min(utf8_size(text[at]), text.size() - at);
    const auto index = static_cast<int32_t>(chain.parts.size());
    chain.parts.push_back({at, size, index - 1, index + 1});
    at += size;
  }
  chain.parts.back().next = kEnd;
  for (size_t i = 0; i + 1 < chain.parts.size(); ++i) offer(chain, static_cast<int32_t>(i));
}

void ScoreEncoder::offer(Chain& chain, int32_t left) const {
  if (left == kEnd) return;
  const Part& first = chain.parts[static_cast<size_t>(left)];
  if (first.next == kEnd) return;
  const size_t size = first.size + chain.parts[static_cast<size_t>(first.next)].size;
  if (size > longest_bytes_) return;
  const auto id = vocabulary_.find_normal(chain.text.substr(first.begin, size));
  if (!id) return;
  chain.queue.push_back({vocabulary_.score(*id), left, size});
  std::push_heap(chain.queue.begin(), chain.queue.end());
}

void ScoreEncoder::append(std::string_view text, std::vector<int32_t>& out) const {
  if (const auto id = vocabulary_.find_normal(text)) return out.push_back(*id);
  for (const char c : text) {
    const int32_t byte = vocabulary_.byte_token(static_cast<unsigned char>(c));
    // Without byte tokens one unknown token stands for the whole character.
    if (byte == kNoToken) {
      if (vocabulary_.unknown() != kNoToken) out.push_back(vocabulary_.unknown());
      return;
    }
    out.push_back(byte);
  }
}

void ScoreEncoder::encode(std::string_view text, std::vector<int32_t>& out) const {
  Chain chain;
  while (!text.empty()) {
    const size_t size = spans_words_ ? text.size() : word_size(text);
    encode_part(text.substr(0, size), chain, out);
    text.remove_prefix(size);
  }
}

void ScoreEncoder::encode_part(std::string_view text, Chain& chain, std::vector<int32_t>& out) const {
  begin_chain(text, chain);
  while (!chain.queue.empty()) {
    std::pop_heap(chain.queue.begin(), chain.queue.end());
    const Candidate best = chain.queue.back();
    chain.queue.pop_back();
    Part& left = chain.parts[static_cast<size_t>(best.left)];
    if (left.size == 0 || left.next == kEnd) continue;
    Part& right = chain.parts[static_cast<size_t>(left.next)];
    if (left.size + right.size != best.size) continue;
    left.size = best.size;
    left.next = right.next;
    right.size = 0;
    if (left.next != kEnd) chain.parts[static_cast<size_t>(left.next)].previous = best.left;
    offer(chain, left.previous);
    offer(chain, best.left);
  }
  for (int32_t at = 0; at != kEnd; at = chain.parts[static_cast<size_t>(at)].next) {
    const Part& part = chain.parts[static_cast<size_t>(at)];
    append(text.substr(part.begin, part.size), out);
  }
}

}  // namespace luce::text
