#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/value.hpp"

namespace luce::text::jinja {

/// What a list is in Python; it decides how the list prints, compares and what it offers.
enum class Flavor : uint8_t { list, tuple, range, generator, keys, values, items };

class List final : public Tracked {
 public:
  List(Heap& heap, Flavor flavor) : Tracked(heap), flavor_(flavor) { charge(sizeof(List)); }
  ~List() override { bury(); }

  Flavor flavor() const { return flavor_; }
  const std::vector<Value>& items() const { return items_; }
  /// Changes the items in place: as many or fewer than before.
  std::vector<Value>& mutable_items() { return items_; }
  size_t size() const { return items_.size(); }
  void push(Value value);
  /// Replaces the items.
  void adopt(std::vector<Value> items);
  /// Names by which items can be asked for, as of a named tuple. They must be literals.
  void name_items(std::vector<std::string_view> names) { names_ = std::move(names); }
  /// Null if no item has that name.
  const Value* named_item(std::string_view name) const;
  /// For a generator that cannot give its items: the error that asking for them raises.
  void fail_with(std::string why) { failure_ = std::move(why); }
  /// The items to iterate over; a generator gives them once.
  std::vector<Value> take_items();

 protected:
  void surrender(std::vector<Value>& out) override;

 private:
  Flavor flavor_;
  bool consumed_ = false;
  std::vector<Value> items_;
  std::vector<std::string_view> names_;
  std::string failure_;
};

/// Keys in the order of insertion. Keys are strings, numbers, none, booleans or tuples of them.
class Dict final : public Tracked {
 public:
  using Entry = std::pair<Value, Value>;

  explicit Dict(Heap& heap) : Tracked(heap) { charge(sizeof(Dict)); }
  ~Dict() override { bury(); }

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  /// Null if there is none.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);
  bool erase(const Value& key);
  void clear();

 protected:
  void surrender(std::vector<Value>& out) override;

 private:
  size_t position(const Value& key) const;
  size_t position(std::string_view key) const;
  void index();

  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, size_t> positions_;  // of string keys, once there are many; views into entries_
};

class Arguments;
struct Frame;

/// Functions, macros, namespaces, loops and whatever else has attributes or can be called.
class Object : public Tracked {
 public:
  using Tracked::Tracked;
  virtual std::string_view type_name() const = 0;
  virtual bool callable() const { return false; }
  virtual Value call(Frame& frame, Arguments& arguments);
  /// Nothing (an undefined value without reason) if there is no such attribute.
  virtual Value attribute(Frame& frame, std::string_view name);

 protected:
  void surrender(std::vector<Value>&) override {}
};

std::shared_ptr<List> make_list(Heap& heap, std::vector<Value> items, Flavor flavor = Flavor::list);

}  // namespace luce::text::jinja
