#include "completion/grammar/machine.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace luce::completion {

namespace {

constexpr int kUnknown = -2;
constexpr size_t kMostOpen = 50'000;   // places looked at for one byte
constexpr size_t kMostStates = 4'096;  // kept, of about 1 KiB each
constexpr size_t kMostFrames = 500'000;
constexpr size_t kMostWork = 1'000'000;    // places looked at for one token: a part of a second
constexpr size_t kTooManyStates = 65'536;  // made for one token

[[noreturn]] void fail_ambiguous() {
  fail(ErrorKind::invalid_request, "the output constraint is too ambiguous to follow; make it simpler");
}

}  // namespace

size_t GrammarMachine::FrameHash::operator()(const Frame& frame) const {
  uint64_t hash = static_cast<uint64_t>(static_cast<uint32_t>(frame.node)) << 32 | static_cast<uint32_t>(frame.below);
  hash = (hash ^ static_cast<uint64_t>(static_cast<uint32_t>(frame.count)) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  return hash ^ hash >> 31;
}

GrammarMachine::GrammarMachine(std::shared_ptr<const GrammarProgram> program) : program_(std::move(program)) {}

int GrammarMachine::start() { return close({{.node = program_->start}}); }

int GrammarMachine::intern(const Frame& frame) {
  const auto [place, is_new] = frame_ids_.try_emplace(frame, static_cast<int>(frames_.size()));
  if (is_new) frames_.push_back(frame);
  return place->second;
}

int GrammarMachine::intern(std::vector<int> frames, bool accepts) {
  if (frames.empty() && !accepts) return kDead;
  std::sort(frames.begin(), frames.end());
  const auto [place, is_new] = state_ids_.try_emplace({frames, accepts}, static_cast<int>(states_.size()));
  if (is_new) {
    if (states_.size() >= kTooManyStates) fail_ambiguous();
    states_.push_back({.frames = std::move(frames), .accepts = accepts, .next = {}});
    states_.back().next.fill(kUnknown);
  }
  return place->second;
}

// The state in which any of the open places may be, all followed to the nodes that read a byte.
int GrammarMachine::close(std::vector<Frame> open) {
  std::set<Frame> seen(open.begin(), open.end());
  std::vector<int> waiting;
  bool accepts = false;
  while (!open.empty()) {
    const Frame frame = open.back();
    open.pop_back();
    const GrammarNode::Kind kind = program_->nodes[frame.node].kind;
    if (kind == GrammarNode::Kind::bytes) waiting.push_back(intern(frame));
    if (kind == GrammarNode::Kind::back && frame.below < 0) accepts = true;
    std::vector<Frame> more;
    expand(frame, more);
    for (const Frame& each : more)
      if (seen.insert(each).second) open.push_back(each);
    if (seen.size() > kMostOpen || ++work_ > kMostWork) fail_ambiguous();
  }
  return intern(std::move(waiting), accepts);
}

void GrammarMachine::expand(const Frame& frame, std::vector<Frame>& open) {
  const GrammarNode& node = program_->nodes[frame.node];
  switch (node.kind) {
    case GrammarNode::Kind::bytes: return;
    case GrammarNode::Kind::back:
      if (frame.below >= 0) open.push_back(frames_[frame.below]);
      return;
    case GrammarNode::Kind::split:
      for (const int branch : node.branches) open.push_back({.node = branch, .below = frame.below});
      return;
    case GrammarNode::Kind::call: {
      const int below = node.next == kReturn ? frame.below : intern({.node = node.next, .below = frame.below});
      open.push_back({.node = program_->rules[node.rule], .below = below});
      return;
    }
    case GrammarNode::Kind::repeat: {
      if (frame.count >= node.least) open.push_back({.node = node.next, .below = frame.below});
      if (node.most != kUnbounded && frame.count >= node.most) return;
      // Beyond the least number an unbounded repetition need not count.
      const int count = node.most == kUnbounded ? std::min(frame.count + 1, node.least) : frame.count + 1;
      const int below = intern({.node = frame.node, .count = count, .below = frame.below});
      open.push_back({.node = program_->rules[node.rule], .below = below});
      return;
    }
  }
}

int GrammarMachine::next(int state, uint8_t byte) {
  if (state == kDead) return kDead;
  if (const int known = states_[state].next[byte]; known != kUnknown) return known;
  std::vector<Frame> open;
  for (const int id : states_[state].frames) {
    const Frame& frame = frames_[id];
    const GrammarNode& node = program_->nodes[frame.node];
    if (node.set.test(byte)) open.push_back({.node = node.next, .below = frame.below});
  }
  const int following = close(std::move(open));
  states_[state].next[byte] = following;
  return following;
}

int GrammarMachine::after(int state, std::string_view bytes) {
  for (const char byte : bytes) state = next(state, static_cast<uint8_t>(byte));
  return state;
}

int GrammarMachine::trim(int state) {
  work_ = 0;
  if (state == kDead || (states_.size() < kMostStates && frames_.size() < kMostFrames)) return state;
  const State kept = states_[state];
  const std::vector<Frame> old = std::exchange(frames_, {});
  frame_ids_.clear();
  states_.clear();
  state_ids_.clear();
  ++generation_;
  std::unordered_map<int, int> copies;
  std::vector<int> frames;
  for (const int frame : kept.frames) frames.push_back(copy_frame(old, frame, copies));
  return intern(std::move(frames), kept.accepts);
}

// Nesting may be deep, so the chain below is copied from its end.
int GrammarMachine::copy_frame(const std::vector<Frame>& old, int frame, std::unordered_map<int, int>& copies) {
  std::vector<int> chain;
  for (int at = frame; at >= 0 && !copies.contains(at); at = old[at].below) chain.push_back(at);
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    Frame copy = old[*at];
    if (copy.below >= 0) copy.below = copies.at(copy.below);
    copies[*at] = intern(copy);
  }
  return copies.at(frame);
}

}  // namespace luce::completion
