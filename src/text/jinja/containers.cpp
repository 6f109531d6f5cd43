#include "text/jinja/containers.hpp"

#include "text/jinja/error.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

constexpr size_t kIndexFrom = 12;  // entries from which a search by hash pays

void require_hashable(const Value& key) {
  if (key.is(Kind::dict)) raise("unhashable type: 'dict'");
  if (key.is(Kind::list) && key.list().flavor() != Flavor::tuple) raise("unhashable type: '{}'", type_name(key));
}

}  // namespace

void List::push(Value value) {
  charge(sizeof(Value));
  items_.push_back(std::move(value));
}

void List::adopt(std::vector<Value> items) {
  charge(items.size() * sizeof(Value));
  heap().work(items.size());
  items_ = std::move(items);
}

std::vector<Value> List::take_items() {
  heap().work(items_.size());
  if (!failure_.empty()) raise("{}", failure_);
  if (flavor_ != Flavor::generator) return items_;
  if (consumed_) return {};
  consumed_ = true;
  return std::move(items_);
}

const Value* List::named_item(std::string_view name) const {
  for (size_t i = 0; i < names_.size() && i < items_.size(); ++i) {
    if (names_[i] == name) return &items_[i];
  }
  return nullptr;
}

void List::surrender(std::vector<Value>& out) {
  for (Value& item : items_) out.push_back(std::move(item));
  items_.clear();
}

const Value* Dict::find(const Value& key) const {
  require_hashable(key);
  const size_t at = position(key);
  return at == entries_.size() ? nullptr : &entries_[at].second;
}

const Value* Dict::find(std::string_view key) const {
  const size_t at = position(key);
  return at == entries_.size() ? nullptr : &entries_[at].second;
}

size_t Dict::position(std::string_view key) const {
  if (!positions_.empty()) {
    const auto found = positions_.find(key);
    return found == positions_.end() ? entries_.size() : found->second;
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first.is_string() && entries_[i].first.view() == key) return i;
  }
  return entries_.size();
}

size_t Dict::position(const Value& key) const {
  if (key.is_string()) return position(key.view());
  heap().work(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].first.is_string() && equal(heap(), entries_[i].first, key)) return i;
  }
  return entries_.size();
}

void Dict::set(Value key, Value value) {
  require_hashable(key);
  const size_t at = position(key);
  if (at < entries_.size()) {
    entries_[at].second = std::move(value);
    return;
  }
  charge(sizeof(Entry));
  entries_.emplace_back(std::move(key), std::move(value));
  if (!positions_.empty() && entries_.back().first.is_string()) {
    positions_.emplace(entries_.back().first.view(), entries_.size() - 1);
  } else if (positions_.empty() && entries_.size() >= kIndexFrom) {
    index();
  }
}

void Dict::index() {
  positions_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].first.is_string()) positions_.emplace(entries_[i].first.view(), i);
  }
}

bool Dict::erase(const Value& key) {
  require_hashable(key);
  const size_t at = position(key);
  if (at == entries_.size()) return false;
  heap().work(entries_.size());
  positions_.clear();
  entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(at));
  if (entries_.size() >= kIndexFrom) index();
  return true;
}

void Dict::clear() {
  positions_.clear();
  entries_.clear();
}

void Dict::surrender(std::vector<Value>& out) {
  positions_.clear();
  for (Entry& entry : entries_) {
    out.push_back(std::move(entry.first));
    out.push_back(std::move(entry.second));
  }
  entries_.clear();
}

Value Object::call(Frame&, Arguments&) { raise("'{}' object is not callable", type_name()); }
Value Object::attribute(Frame&, std::string_view) { return {}; }

std::shared_ptr<List> make_list(Heap& heap, std::vector<Value> items, Flavor flavor) {
  auto list = std::make_shared<List>(heap, flavor);
  list->adopt(std::move(items));
  return list;
}

}  // namespace luce::text::jinja
