#include "text/jinja/globals.hpp"

#include <array>
#include <ctime>

#include "text/jinja/error.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {

Value Namespace::attribute(Frame&, std::string_view name) {
  const Value* found = attributes_->find(name);
  return found == nullptr ? Value() : *found;
}

void Namespace::surrender(std::vector<Value>& out) {
  if (attributes_) out.push_back(Value(std::move(attributes_)));
}

namespace {

constexpr Integer kMaxRange = 100'000;  // as Jinja2's sandbox
constexpr Integer kMaxBound = Integer{1} << 62;

Value range(Frame& frame, Arguments& arguments) {
  arguments.at_most(3, "range");
  const auto& given = arguments.positional;
  const bool one = given.size() < 2;
  const Integer begin = one ? Integer{0} : to_integer(given[0], "range");
  const Integer end = to_integer(one ? arguments.need(0, "stop") : given[1], "range");
  const Integer step = arguments.integer(2, "step", 1);
  if (step == 0) raise("range() arg 3 must not be zero");
  for (const Integer bound : {begin, end, step}) {
    if (bound > kMaxBound || bound < -kMaxBound) raise("range() arguments are too large");
  }
  const Integer span = step > 0 ? end - begin : begin - end;
  const Integer stride = step > 0 ? step : -step;
  const Integer count = span <= 0 ? 0 : (span - 1) / stride + 1;
  if (count > kMaxRange) {
    raise("Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", integer_text(kMaxRange));
  }
  std::vector<Value> items;
  for (Integer i = 0; i < count; ++i) items.push_back(begin + i * step);
  return make_list(frame.heap(), std::move(items), Flavor::range);
}

void fill_from(Frame& frame, Dict& dict, const Arguments& arguments) {
  if (!arguments.positional.empty()) {
    const Value& source = arguments.positional[0];
    require_defined(source);
    if (source.is(Kind::dict)) {
      for (const auto& [key, value] : source.dict().entries()) dict.set(key, value);
    } else {
      for (const Value& item : iterate(frame.heap(), source)) {
        const std::vector<Value> both = iterate(frame.heap(), item);
        if (both.size() != 2) raise("dictionary update sequence elements must be pairs");
        dict.set(both[0], both[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.keyword) dict.set(name, value);
}

Value make_namespace(Frame& frame, Arguments& arguments) {
  auto space = std::make_shared<Namespace>(frame.heap());
  fill_from(frame, space->attributes(), arguments);
  return space;
}

Value make_dict(Frame& frame, Arguments& arguments) {
  auto dict = std::make_shared<Dict>(frame.heap());
  fill_from(frame, *dict, arguments);
  return dict;
}

Value raise_exception(Frame& frame, Arguments& arguments) {
  const String message = to_string(frame.heap(), arguments.need(0, "message"));
  raise("{}", message.view());
}

Value strftime_now(Frame& frame, Arguments& arguments) {
  const std::string format(to_text(arguments.need(0, "format"), "format").view());
  if (format.empty()) return String();
  std::array<char, 4096> buffer{};
  // A mark in front tells an empty result from one that does not fit.
  const size_t size = std::strftime(buffer.data(), buffer.size(), ("+" + format).c_str(), &frame.render.now);
  if (size == 0) raise("strftime_now: the result is too long");
  return make_string(frame.heap(), replace_invalid_utf8(std::string_view(buffer.data() + 1, size - 1)));
}

/// cycler(a, b): next() gives the items in turn.
class Cycler final : public Object {
 public:
  Cycler(Heap& heap, std::vector<Value> items) : Object(heap), items_(std::move(items)) {
    charge(items_.size() * sizeof(Value));
  }
  ~Cycler() override { bury(); }

  std::string_view type_name() const override { return "Cycler"; }
  Value attribute(Frame& frame, std::string_view name) override;
  Value step(bool restart) {
    if (restart) {
      at_ = 0;
      return None{};
    }
    const Value item = items_[at_];
    at_ = (at_ + 1) % items_.size();
    return item;
  }
  /// The object itself as a value, which its methods hold.
  std::weak_ptr<Object> self;

 protected:
  void surrender(std::vector<Value>& out) override {
    for (Value& item : items_) out.push_back(std::move(item));
    items_.clear();
  }

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

class CyclerMethod final : public Object {
 public:
  CyclerMethod(Heap& heap, std::shared_ptr<Object> cycler, bool restarts)
      : Object(heap), cycler_(std::move(cycler)), restarts_(restarts) {}
  ~CyclerMethod() override { bury(); }

  std::string_view type_name() const override { return "method"; }
  bool callable() const override { return true; }
  Value call(Frame&, Arguments&) override { return static_cast<Cycler&>(*cycler_).step(restarts_); }

 protected:
  void surrender(std::vector<Value>& out) override {
    if (cycler_) out.push_back(Value(std::move(cycler_)));
  }

 private:
  std::shared_ptr<Object> cycler_;
  bool restarts_;
};

Value Cycler::attribute(Frame&, std::string_view name) {
  if (name == "current") return items_[at_];
  if (name != "next" && name != "reset") return {};
  return std::make_shared<CyclerMethod>(heap(), self.lock(), name == "reset");
}

Value make_cycler(Frame& frame, Arguments& arguments) {
  if (arguments.positional.empty()) raise("at least one item has to be provided");
  auto cycler = std::make_shared<Cycler>(frame.heap(), arguments.positional);
  cycler->self = cycler;
  return cycler;
}

/// joiner(separator): nothing at the first call, then the separator.
class Joiner final : public Object {
 public:
  Joiner(Heap& heap, String separator) : Object(heap), separator_(std::move(separator)) {}
  std::string_view type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Value call(Frame&, Arguments&) override {
    if (used_) return separator_;
    used_ = true;
    return String();
  }

 private:
  String separator_;
  bool used_ = false;
};

Value make_joiner(Frame& frame, Arguments& arguments) {
  return std::make_shared<Joiner>(frame.heap(), arguments.string(0, "sep", String::literal(", ")));
}

struct GlobalEntry {
  std::string_view name;
  BuiltIn::Function function;
};

constexpr auto kGlobals = std::to_array<GlobalEntry>({
    {"range", range},
    {"namespace", make_namespace},
    {"dict", make_dict},
    {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
    {"cycler", make_cycler},
    {"joiner", make_joiner},
});

}  // namespace

std::optional<Value> find_global(Heap& heap, std::string_view name) {
  for (const GlobalEntry& entry : kGlobals) {
    if (entry.name == name) return Value(std::make_shared<BuiltIn>(heap, entry.function));
  }
  return std::nullopt;
}

}  // namespace luce::text::jinja
