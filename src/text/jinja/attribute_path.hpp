#pragma once

#include <vector>

#include "text/jinja/arguments.hpp"
#include "text/jinja/frame.hpp"

namespace luce::text::jinja {

/// "a.b.0": the way to a part of an item, as filters with an attribute take it. The empty path is the item itself.
class AttributePath {
 public:
  AttributePath() = default;
  /// None is the empty path.
  AttributePath(Heap& heap, const Value& path);

  bool empty() const { return parts_.empty(); }
  Value of(Frame& frame, const Value& item) const;

 private:
  std::vector<Value> parts_;
};

/// What sorting and its kin compare: a part of the item, texts without regard to case unless asked for.
class SortKey {
 public:
  SortKey(Heap& heap, const Arguments& arguments, size_t case_index, size_t attribute_index);

  Value of(Frame& frame, const Value& item) const;
  Value folded(Frame& frame, const Value& value) const;

 private:
  std::vector<AttributePath> paths_;  // "a,b" names several
  bool case_sensitive_;
};

}  // namespace luce::text::jinja
