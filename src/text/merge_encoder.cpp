#include "text/merge_encoder.hpp"

#include <algorithm>
#include <queue>

#include "base/error.hpp"
#include "text/blanks.hpp"
#include "text/byte_alphabet.hpp"
#include "text/utf8.hpp"

namespace luce::text {
namespace {

constexpr int32_t kEnd = -1;

struct Link {
  uint32_t symbol;
  uint32_t begin;  // in the piece
  int32_t previous;
  int32_t next;
};

struct Candidate {
  uint32_t rank;
  int32_t left;
  uint32_t left_symbol;  // both as they were when this was queued; if changed, it is outdated
  uint32_t right_symbol;
  uint32_t merged;

  bool operator<(const Candidate& other) const {  // for a heap with the best on top
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

}  // namespace

struct MergeEncoder::Chain {
  std::vector<Link> links;
  std::vector<Candidate> queue;
};

MergeEncoder::MergeEncoder(const Vocabulary& vocabulary, const std::vector<std::string>& merges, bool whole_words)
    : vocabulary_(vocabulary), whole_words_(whole_words), merges_(merges.size()) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    symbol_of_byte_[byte] = symbol_of(ByteAlphabet::instance().character(static_cast<unsigned char>(byte)));
  }
  read_merges(merges);
}

uint32_t MergeEncoder::symbol_of(std::string_view text) {
  if (const auto id = vocabulary_.find_normal(text)) return static_cast<uint32_t>(*id);
  const auto next = static_cast<uint32_t>(vocabulary_.size()) + static_cast<uint32_t>(extra_symbols_.size());
  return extra_symbols_.try_emplace(std::string(text), next).first->second;
}

void MergeEncoder::read_merges(const std::vector<std::string>& merges) {
  std::string both;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string& rule = merges[rank];
    const size_t gap = rule.find(' ', 1);
    if (rule.empty() || gap == std::string::npos || gap + 1 == rule.size()) {
      fail(ErrorKind::invalid_file,
           "tokenizer.ggml.merges: expected two parts with a blank between in merge {}, found '{}'", rank,
           replace_invalid_utf8(rule));
    }
    const std::string_view left = std::string_view(rule).substr(0, gap);
    const std::string_view right = std::string_view(rule).substr(gap + 1);
    both.assign(left).append(right);
    spans_words_ = spans_words_ || (vocabulary_.kind() == VocabularyKind::character && spans_words(both));
    merges_.insert(symbol_of(left), symbol_of(right), {static_cast<uint32_t>(rank), symbol_of(both)});
  }
}

std::string MergeEncoder::written(std::string_view piece) const {
  if (vocabulary_.kind() != VocabularyKind::byte_level) return std::string(piece);
  std::string out;
  for (const char c : piece) out += ByteAlphabet::instance().character(static_cast<unsigned char>(c));
  return out;
}

// Newline runs of the kind character are taken whole, as its models were trained.
bool MergeEncoder::is_whole_word(std::string_view piece) const {
  if (whole_words_) return true;
  return vocabulary_.kind() == VocabularyKind::character && piece.find_first_not_of('\n') == std::string_view::npos;
}

void MergeEncoder::begin_chain(std::string_view piece, Chain& chain) const {
  const bool bytes = vocabulary_.kind() == VocabularyKind::byte_level;
  for (size_t at = 0; at < piece.size();) {
    const size_t size = bytes ? 1 : std::min(utf8_size(piece[at]), piece.size() - at);
    uint32_t symbol = kNoSymbol;
    if (bytes) {
      symbol = symbol_of_byte_[static_cast<unsigned char>(piece[at])];
    } else {
      const std::string character(piece.substr(at, size));
      const auto id = vocabulary_.find_normal(character);
      const auto extra = id ? extra_symbols_.end() : extra_symbols_.find(character);
      if (id) symbol = static_cast<uint32_t>(*id);
      if (extra != extra_symbols_.end()) symbol = extra->second;
    }
    const auto index = static_cast<int32_t>(chain.links.size());
    chain.links.push_back({symbol, static_cast<uint32_t>(at), index - 1, index + 1});
    at += size;
  }
  chain.links.back().next = kEnd;
}

void MergeEncoder::merge(Chain& chain) const {
  const auto offer = [&](int32_t left) {
    const int32_t right = left == kEnd ? kEnd : chain.links[static_cast<size_t>(left)].next;
    if (right == kEnd) return;
    const uint32_t first = chain.links[static_cast<size_t>(left)].symbol;
    const uint32_t second = chain.links[static_cast<size_t>(right)].symbol;
    const Merge* found = merges_.find(first, second);
    if (found == nullptr) return;
    chain.queue.push_back({found->rank, left, first, second, found->symbol});
    std::push_heap(chain.queue.begin(), chain.queue.end());
  };
  for (size_t i = 0; i + 1 < chain.links.size(); ++i) offer(static_cast<int32_t>(i));
  while (!chain.queue.empty()) {
    std::pop_heap(chain.queue.begin(), chain.queue.end());
    const Candidate best = chain.queue.back();
    chain.queue.pop_back();
    Link& left = chain.links[static_cast<size_t>(best.left)];
    if (left.symbol != best.left_symbol || left.next == kEnd) continue;
    Link& right = chain.links[static_cast<size_t>(left.next)];
    if (right.symbol != best.right_symbol) continue;
    left.symbol = best.merged;
    left.next = right.next;
    right.symbol = kNoSymbol;
    if (left.next != kEnd) chain.links[static_cast<size_t>(left.next)].previous = best.left;
    offer(left.previous);
    offer(best.left);
  }
}

void MergeEncoder::append_bytes(std::string_view bytes, std::vector<int32_t>& out) const {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    int32_t id = vocabulary_.byte_token(byte);
    if (vocabulary_.kind() == VocabularyKind::byte_level) {
      id = vocabulary_.find_normal(ByteAlphabet::instance().character(byte)).value_or(kNoToken);
    }
    if (id == kNoToken) id = vocabulary_.unknown();
    if (id != kNoToken) out.push_back(id);
  }
}

void MergeEncoder::encode(std::string_view piece, std::vector<int32_t>& out) const {
  if (piece.empty()) return;
  if (is_whole_word(piece)) {
    if (const auto id = vocabulary_.find_normal(written(piece))) return out.push_back(*id);
  }
  Chain chain;
  const bool cuts = vocabulary_.kind() == VocabularyKind::character && !spans_words_;
  while (!piece.empty()) {
    const size_t size = cuts ? word_size(piece) : piece.size();
    encode_part(piece.substr(0, size), chain, out);
    piece.remove_prefix(size);
  }
}

void MergeEncoder::encode_part(std::string_view piece, Chain& chain, std::vector<int32_t>& out) const {
  chain.links.clear();
  chain.queue.clear();
  begin_chain(piece, chain);
  merge(chain);
  for (int32_t at = 0; at != kEnd;) {
    const Link& link = chain.links[static_cast<size_t>(at)];
    const size_t end = link.next == kEnd ? piece.size() : chain.links[static_cast<size_t>(link.next)].begin;
    if (link.symbol < static_cast<uint32_t>(vocabulary_.size())) {
      out.push_back(static_cast<int32_t>(link.symbol));
    } else {
      append_bytes(piece.substr(link.begin, end - link.begin), out);
    }
    at = link.next;
  }
}

}  // namespace luce::text
