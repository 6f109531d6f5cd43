#include <cstdint>
#include <utility>
#include <vector>

#include "completion/grammar/program.hpp"

namespace luce::completion {

namespace {

using Kind = GrammarNode::Kind;

/// Which rules can be passed without reading a byte, and whether one can come back to itself so.
class EmptyPaths {
 public:
  explicit EmptyPaths(const GrammarProgram& program)
      : program_(program), nullable_(program.rules.size(), false), visited_(program.nodes.size(), 0) {}

  bool any_left_recursion() {
    find_nullable();
    std::vector<Mark> marks(program_.rules.size(), Mark::unseen);
    for (size_t rule = 0; rule < program_.rules.size(); ++rule)
      if (recurs(static_cast<int>(rule), marks)) return true;
    return false;
  }

 private:
  enum class Mark : uint8_t { unseen, open, done };

  void find_nullable() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t rule = 0; rule < nullable_.size(); ++rule) {
        if (nullable_[rule] || !reaches_end(program_.rules[rule])) continue;
        nullable_[rule] = changed = true;
      }
    }
  }

  bool passes(const GrammarNode& node) const {
    return node.kind == Kind::call ? nullable_[node.rule] : node.least == 0 || nullable_[node.rule];
  }

  // Nodes that follow without a byte being read, from `first` on, each once.
  template <typename Visit>
  void walk(int first, Visit visit) const {
    std::vector<int> open = {first};
    visited_[first] = ++visit_;
    while (!open.empty()) {
      const GrammarNode& node = program_.nodes[open.back()];
      open.pop_back();
      visit(node);
      std::vector<int> next = node.branches;
      if ((node.kind == Kind::call || node.kind == Kind::repeat) && passes(node)) next.push_back(node.next);
      for (const int each : next) {
        if (std::exchange(visited_[each], visit_) == visit_) continue;
        open.push_back(each);
      }
    }
  }

  bool reaches_end(int first) const {
    bool end = false;
    walk(first, [&](const GrammarNode& node) { end = end || node.kind == Kind::back; });
    return end;
  }

  std::vector<int> first_rules(int rule) const {
    std::vector<int> rules;
    walk(program_.rules[rule], [&](const GrammarNode& node) {
      if (node.rule >= 0) rules.push_back(node.rule);
    });
    return rules;
  }

  // Depth first without recursion of its own: schemas may nest deeply.
  bool recurs(int root, std::vector<Mark>& marks) const {
    std::vector<std::pair<int, std::vector<int>>> path;
    const auto enter = [&](int rule) {
      marks[rule] = Mark::open;
      path.emplace_back(rule, first_rules(rule));
    };
    if (marks[root] == Mark::unseen) enter(root);
    while (!path.empty()) {
      auto& [rule, left] = path.back();
      if (left.empty()) {
        marks[rule] = Mark::done;
        path.pop_back();
        continue;
      }
      const int next = left.back();
      left.pop_back();
      if (marks[next] == Mark::open) return true;
      if (marks[next] == Mark::unseen) enter(next);
    }
    return false;
  }

  const GrammarProgram& program_;
  std::vector<bool> nullable_;
  mutable std::vector<int> visited_;  // by node: the latest walk that came by
  mutable int visit_ = 0;
};

}  // namespace

GrammarProgram GrammarBuilder::finish(int start) {
  program_.start = start;
  if (EmptyPaths(program_).any_left_recursion())
    fail(ErrorKind::invalid_request,
         "the output constraint refers to itself with nothing in between ($ref), so that it allows no text");
  return std::move(program_);
}

}  // namespace luce::completion
