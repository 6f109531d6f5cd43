#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace luce::completion {

using ByteSet = std::bitset<256>;

constexpr int kReturn = 0;      // the node at which every rule ends
constexpr int kUnbounded = -1;  // repetitions

/// A context-free grammar over bytes as a graph: each node says what may come next and where that leads.
struct GrammarNode {
  enum class Kind : uint8_t {
    back,    // the rule is over: goes on where it was called
    bytes,   // one byte of `set`
    split,   // any of `branches`
    call,    // `rule`, then `next`
    repeat,  // `rule` from `least` to `most` times, then `next`
  };
  Kind kind = Kind::back;
  int next = kReturn;
  int rule = -1;
  int least = 0;
  int most = 0;
  ByteSet set = {};
  std::vector<int> branches = {};
};

struct GrammarProgram {
  std::vector<GrammarNode> nodes;
  std::vector<int> rules;  // first node of each
  int start = kReturn;
};

/// Builds a program from its end: each method gives the node that reads its part and then goes on at `next`. Throws
/// Error{invalid_request} when the grammar grows beyond its bound.
class GrammarBuilder {
 public:
  GrammarBuilder();

  int literal(std::string_view text, int next);
  int bytes(const ByteSet& set, int next);
  /// One code point of a range, as UTF-8; surrogates are left out.
  int code_points(char32_t first, char32_t last, int next);
  int any_of(std::vector<int> branches);
  int optional(int branch, int next) { return any_of({branch, next}); }
  int call(int rule, int next);
  int repeat(int rule, int least, int most, int next);
  /// Text up to and with the first `end`, which is not empty.
  int until(std::string_view end, int next);

  /// A rule that is defined later, so that rules can refer to themselves.
  int declare_rule();
  void define(int rule, int first_node) { program_.rules[rule] = first_node; }
  int rule(int first_node);

  /// The finished program. Throws Error{invalid_request} if a rule can come back to itself without reading a byte.
  GrammarProgram finish(int start);

 private:
  int add(GrammarNode node);
  int utf8_range(char32_t first, char32_t last, int next);

  GrammarProgram program_;
};

}  // namespace luce::completion
