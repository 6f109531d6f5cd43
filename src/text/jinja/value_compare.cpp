#include <cmath>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

constexpr int kMaxNesting = 200;

void enter(Heap& heap, int depth) {
  heap.work(1);
  if (depth > kMaxNesting) raise("values nested more than {} deep cannot be compared", kMaxNesting);
}

bool equal_numbers(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() == b.integer();
  return a.as_real() == b.as_real();
}

bool equal_at(Heap& heap, const Value& a, const Value& b, int depth);

bool equal_lists(Heap& heap, const List& a, const List& b, int depth) {
  if (a.flavor() != b.flavor() || a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal_at(heap, a.items()[i], b.items()[i], depth + 1)) return false;
  }
  return true;
}

bool equal_dicts(Heap& heap, const Dict& a, const Dict& b, int depth) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (other == nullptr || !equal_at(heap, value, *other, depth + 1)) return false;
  }
  return true;
}

bool equal_at(Heap& heap, const Value& a, const Value& b, int depth) {
  enter(heap, depth);
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) {
    if (a.string().size() != b.string().size()) return false;
    heap.work_on_bytes(a.string().size());
    return a.view() == b.view();
  }
  if (a.same_as(b)) return true;
  if (a.is(Kind::list)) return equal_lists(heap, a.list(), b.list(), depth);
  return a.is(Kind::dict) && equal_dicts(heap, a.dict(), b.dict(), depth);
}

template <typename T>
int sign(const T& a, const T& b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int order_at(Heap& heap, const Value& a, const Value& b, std::string_view operation, int depth) {
  enter(heap, depth);
  if (a.is_integer() && b.is_integer()) return sign(a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return sign(a.as_real(), b.as_real());
  if (a.is_string() && b.is_string()) {
    heap.work_on_bytes(std::min(a.string().size(), b.string().size()));
    return sign(a.view(), b.view());  // UTF-8 orders by bytes as by code points
  }
  const bool lists = a.is(Kind::list) && b.is(Kind::list) && a.list().flavor() == b.list().flavor() &&
                     (a.list().flavor() == Flavor::list || a.list().flavor() == Flavor::tuple);
  if (!lists) {
    raise("'{}' not supported between instances of '{}' and '{}'", operation, type_name(a), type_name(b));
  }
  const auto& first = a.list().items();
  const auto& second = b.list().items();
  for (size_t i = 0; i < first.size() && i < second.size(); ++i) {
    if (equal_at(heap, first[i], second[i], depth + 1)) continue;
    return order_at(heap, first[i], second[i], operation, depth + 1);
  }
  return sign(first.size(), second.size());
}

}  // namespace

bool equal(Heap& heap, const Value& a, const Value& b) { return equal_at(heap, a, b, 0); }

int order(Heap& heap, const Value& a, const Value& b, std::string_view operation) {
  return order_at(heap, a, b, operation, 0);
}

}  // namespace luce::text::jinja
