#include <algorithm>
#include <array>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/methods.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

struct Entry {
  std::string_view name;
  Method method;
};

Method find(std::span<const Entry> table, std::string_view name) {
  for (const Entry& entry : table) {
    if (entry.name == name) return entry.method;
  }
  return nullptr;
}

// Dictionaries.

Value keys(Frame& frame, const Value& self, Arguments&) {
  return make_list(frame.heap(), iterate(frame.heap(), self), Flavor::keys);
}

Value values(Frame& frame, const Value& self, Arguments&) {
  std::vector<Value> out;
  for (const auto& [key, value] : self.dict().entries()) out.push_back(value);
  return make_list(frame.heap(), std::move(out), Flavor::values);
}

Value pair(Heap& heap, const Dict::Entry& entry) { return make_list(heap, {entry.first, entry.second}, Flavor::tuple); }

Value items(Frame& frame, const Value& self, Arguments&) {
  std::vector<Value> out;
  for (const Dict::Entry& entry : self.dict().entries()) out.push_back(pair(frame.heap(), entry));
  return make_list(frame.heap(), std::move(out), Flavor::items);
}

Value get(Frame&, const Value& self, Arguments& arguments) {
  const Value* found = self.dict().find(arguments.need(0, "key"));
  if (found != nullptr) return *found;
  return arguments.positional.size() > 1 ? arguments.positional[1] : Value(None{});
}

Value copy_dict(Frame& frame, const Value& self, Arguments&) {
  auto copy = std::make_shared<Dict>(frame.heap());
  for (const auto& [key, value] : self.dict().entries()) copy->set(key, value);
  return copy;
}

Value pop_key(Frame& frame, const Value& self, Arguments& arguments) {
  const Value key = arguments.need(0, "key");
  if (const Value* found = self.dict().find(key)) {
    Value value = *found;
    self.dict().erase(key);
    return value;
  }
  if (arguments.positional.size() > 1) return arguments.positional[1];
  StringBuilder text(frame.heap());
  print_repr(text, key);
  raise("{}", text.view());
}

Value set_default(Frame&, const Value& self, Arguments& arguments) {
  const Value& key = arguments.need(0, "key");
  if (const Value* found = self.dict().find(key)) return *found;
  const Value value = arguments.positional.size() > 1 ? arguments.positional[1] : Value(None{});
  self.dict().set(key, value);
  return value;
}

Value update(Frame& frame, const Value& self, Arguments& arguments) {
  if (!arguments.positional.empty()) {
    const Value& other = arguments.positional[0];
    if (other.is(Kind::dict)) {
      const std::vector<Dict::Entry> entries = other.dict().entries();
      for (const auto& [key, value] : entries) self.dict().set(key, value);
    } else {
      for (const Value& item : iterate(frame.heap(), other)) {
        const std::vector<Value> both = iterate(frame.heap(), item);
        if (both.size() != 2) raise("dictionary update sequence elements must be pairs");
        self.dict().set(both[0], both[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.keyword) self.dict().set(name, value);
  return None{};
}

Value clear_dict(Frame&, const Value& self, Arguments&) {
  self.dict().clear();
  return None{};
}

// Lists.

List& mutable_list(const Value& self) {
  if (self.list().flavor() != Flavor::list) raise("'{}' object cannot be changed", type_name(self));
  return self.list();
}

Value append(Frame&, const Value& self, Arguments& arguments) {
  mutable_list(self).push(arguments.need(0, "object"));
  return None{};
}

Value extend(Frame& frame, const Value& self, Arguments& arguments) {
  List& list = mutable_list(self);
  for (Value& item : iterate(frame.heap(), arguments.need(0, "iterable"))) list.push(std::move(item));
  return None{};
}

Value insert(Frame& frame, const Value& self, Arguments& arguments) {
  List& list = mutable_list(self);
  const auto size = static_cast<Integer>(list.size());
  Integer at = to_integer(arguments.need(0, "index"), "index");
  at = std::clamp<Integer>(at < 0 ? at + size : at, 0, size);
  list.push(arguments.need(1, "object"));
  frame.heap().work(list.size());
  auto& items_of_list = list.mutable_items();
  std::rotate(items_of_list.begin() + static_cast<ptrdiff_t>(at), items_of_list.end() - 1, items_of_list.end());
  return None{};
}

Value pop_item(Frame& frame, const Value& self, Arguments& arguments) {
  List& list = mutable_list(self);
  const auto size = static_cast<Integer>(list.size());
  if (size == 0) raise("pop from empty list");
  Integer at = arguments.integer(0, "index", -1);
  if (at < 0) at += size;
  if (at < 0 || at >= size) raise("pop index out of range");
  frame.heap().work(list.size());
  auto& items_of_list = list.mutable_items();
  const auto place = items_of_list.begin() + static_cast<ptrdiff_t>(at);
  Value item = std::move(*place);
  items_of_list.erase(place);
  return item;
}

size_t index_of(Frame& frame, const Value& self, const Value& wanted) {
  const auto& list = self.list().items();
  size_t at = 0;
  while (at < list.size() && !equal(frame.heap(), list[at], wanted)) ++at;
  return at;
}

Value index(Frame& frame, const Value& self, Arguments& arguments) {
  const size_t at = index_of(frame, self, arguments.need(0, "value"));
  if (at == self.list().size()) raise("the value is not in the list");
  return at;
}

Value remove(Frame& frame, const Value& self, Arguments& arguments) {
  List& list = mutable_list(self);
  const size_t at = index_of(frame, self, arguments.need(0, "value"));
  if (at == list.size()) raise("list.remove(x): x not in list");
  list.mutable_items().erase(list.mutable_items().begin() + static_cast<ptrdiff_t>(at));
  return None{};
}

Value count(Frame& frame, const Value& self, Arguments& arguments) {
  size_t found = 0;
  for (const Value& item : self.list().items()) found += equal(frame.heap(), item, arguments.need(0, "value")) ? 1 : 0;
  return found;
}

Value copy_list(Frame& frame, const Value& self, Arguments&) {
  return make_list(frame.heap(), self.list().items(), self.list().flavor());
}

Value reverse(Frame& frame, const Value& self, Arguments&) {
  List& list = mutable_list(self);
  frame.heap().work(list.size());
  std::reverse(list.mutable_items().begin(), list.mutable_items().end());
  return None{};
}

Value sort(Frame& frame, const Value& self, Arguments& arguments) {
  const bool descending = arguments.boolean(99, "reverse", false);
  std::vector<Value> sorted = mutable_list(self).items();
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Value& a, const Value& b) {
    return order(frame.heap(), descending ? b : a, descending ? a : b, "<") < 0;
  });
  self.list().mutable_items() = std::move(sorted);
  return None{};
}

Value clear_list(Frame&, const Value& self, Arguments&) {
  mutable_list(self).mutable_items().clear();
  return None{};
}

constexpr auto kDictMethods = std::to_array<Entry>({{"items", items},
                                                    {"keys", keys},
                                                    {"values", values},
                                                    {"get", get},
                                                    {"copy", copy_dict},
                                                    {"pop", pop_key},
                                                    {"setdefault", set_default},
                                                    {"update", update},
                                                    {"clear", clear_dict}});

// Hugging Face forbids methods that change a list; here they do no harm, since each rendering has its own values.
constexpr auto kListMethods = std::to_array<Entry>({{"append", append},
                                                    {"extend", extend},
                                                    {"insert", insert},
                                                    {"pop", pop_item},
                                                    {"remove", remove},
                                                    {"index", index},
                                                    {"count", count},
                                                    {"copy", copy_list},
                                                    {"reverse", reverse},
                                                    {"sort", sort},
                                                    {"clear", clear_list}});

}  // namespace

Method find_dict_method(std::string_view name) { return find(kDictMethods, name); }
Method find_list_method(std::string_view name) { return find(kListMethods, name); }

}  // namespace luce::text::jinja
