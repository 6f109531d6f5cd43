#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "completion/grammar/program.hpp"

namespace luce::completion {

/// Runs a grammar over bytes. States are made as they are reached and remembered, so that the same place in the same
/// nesting costs a table look-up. Throws Error{invalid_request} when a grammar is too ambiguous to follow.
class GrammarMachine {
 public:
  static constexpr int kDead = -1;

  explicit GrammarMachine(std::shared_ptr<const GrammarProgram> program);

  int start();
  /// The state after a byte, kDead if the byte is not allowed.
  int next(int state, uint8_t byte);
  /// The state after some bytes, kDead if they are not allowed.
  int after(int state, std::string_view bytes);
  /// The text may end here.
  bool accepts(int state) const { return states_[state].accepts; }

  /// Called after each token: forgets all states but one when they are many; gives its new number. Other numbers are
  /// void then.
  int trim(int state);
  /// Changes whenever trim() forgot states.
  int generation() const { return generation_; }

 private:
  /// A place to go on: `node`, in its `count`th repetition, then what `below` says.
  struct Frame {
    int node = 0;
    int count = 0;
    int below = -1;
    auto operator<=>(const Frame&) const = default;
  };
  struct State {
    std::vector<int> frames;  // ascending; each waits at a node that reads a byte
    bool accepts = false;
    std::array<int32_t, 256> next;
  };
  struct FrameHash {
    size_t operator()(const Frame& frame) const;
  };

  int intern(const Frame& frame);
  int intern(std::vector<int> frames, bool accepts);
  int close(std::vector<Frame> open);
  void expand(const Frame& frame, std::vector<Frame>& open);
  int copy_frame(const std::vector<Frame>& old, int frame, std::unordered_map<int, int>& copies);

  std::shared_ptr<const GrammarProgram> program_;
  std::vector<Frame> frames_;
  std::unordered_map<Frame, int, FrameHash> frame_ids_;
  std::vector<State> states_;
  std::map<std::pair<std::vector<int>, bool>, int> state_ids_;
  int generation_ = 0;
  size_t work_ = 0;  // since the latest trim()
};

}  // namespace luce::completion
