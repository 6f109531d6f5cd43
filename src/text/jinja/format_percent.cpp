#include <optional>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/format.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(Heap& heap, const String& format, const Value& arguments)
      : out_(heap), format_(format), arguments_(arguments) {
    if (arguments.is(Kind::list) && arguments.list().flavor() == Flavor::tuple)
      items_ = arguments.list().items();
    else
      items_ = {arguments};
  }

  String run() {
    const std::string_view text = format_.view();
    size_t kept = 0;
    for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at_)) {
      out_.append(format_, kept, at);
      at_ = at + 1;
      convert();
      kept = at_;
    }
    out_.append(format_, kept, text.size());
    const bool by_name =
        arguments_.is(Kind::dict) || (arguments_.is(Kind::list) && arguments_.list().flavor() != Flavor::tuple);
    if (next_ < items_.size() && !by_name) raise("not all arguments converted during string formatting");
    return out_.finish(format_.is_markup());
  }

 private:
  char peek() const {
    if (at_ >= format_.size()) raise("incomplete format");
    return format_.view()[at_];
  }

  Value next_item() {
    if (next_ >= items_.size()) raise("not enough arguments for format string");
    return items_[next_++];
  }

  Value named_item() {
    if (!arguments_.is(Kind::dict)) raise("format requires a mapping");
    const size_t end = format_.view().find(')', at_);
    if (end == std::string_view::npos) raise("incomplete format key");
    const std::string_view name = format_.view().substr(at_ + 1, end - at_ - 1);
    const Value* found = arguments_.dict().find(name);
    if (found == nullptr) raise("'{}'", name);
    at_ = end + 1;
    return *found;
  }

  Integer number() {
    if (peek() == '*') {
      ++at_;
      const Integer given = to_integer(next_item(), "*");
      if (given > 1'000'000'000 || given < -1'000'000'000) raise("width too big");
      return given;
    }
    Integer value = 0;
    while (peek() >= '0' && peek() <= '9') {
      if (value > 1'000'000'000) raise("width too big");
      value = value * 10 + (format_.view()[at_++] - '0');
    }
    return value;
  }

  void read_flags(FormatSpec& spec) {
    for (;; ++at_) {
      switch (peek()) {
        case '-': spec.align = '<'; break;
        case '+': spec.sign = '+'; break;
        case ' ': spec.sign = spec.sign == '+' ? '+' : ' '; break;
        case '#': spec.alternate = true; break;
        case '0': zero_ = true; break;
        default: return;
      }
    }
  }

  void convert() {
    FormatSpec spec;
    spec.align = '>';
    zero_ = false;
    std::optional<Value> value;
    if (peek() == '(') value = named_item();
    read_flags(spec);
    spec.width = number();
    if (spec.width < 0) spec.align = '<';
    if (spec.width < 0) spec.width = -spec.width;
    if (peek() == '.') {
      ++at_;
      spec.precision = number();
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') ++at_;
    spec.type = format_.view()[at_++];
    if (spec.type == '%') return out_.append("%");
    print_value(value ? *value : next_item(), spec);
  }

  void print_value(const Value& value, FormatSpec spec) {
    Heap& heap = out_.heap();
    switch (spec.type) {
      case 's': return print_formatted(out_, to_string(heap, value), spec);
      case 'r':
      case 'a': {
        StringBuilder text(heap);
        print_repr(text, value);
        spec.type = 's';
        return print_formatted(out_, text.finish(), spec);
      }
      case 'c':
        if (value.is_string() && value.string().length() == 1) spec.type = 's';
        return print_formatted(out_, value, spec);
      default: break;
    }
    if (std::string_view("diuoxXeEfFgG").find(spec.type) == std::string_view::npos) {
      raise("unsupported format character '{}'", spec.type);
    }
    print_number(value, spec);
  }

  void print_number(const Value& value, FormatSpec spec) {
    if (!value.is_number()) raise("%{} format: a real number is required, not {}", spec.type, type_name(value));
    if (zero_ && spec.align == '>') {
      spec.fill = String::literal("0");
      spec.align = '=';
    }
    const bool real_type = std::string_view("eEfFgG").find(spec.type) != std::string_view::npos;
    if (real_type) return print_formatted(out_, value.as_real(), spec);
    if (spec.type == 'i' || spec.type == 'u') spec.type = 'd';
    if (value.is(Kind::real) && spec.type != 'd') raise("%{} format: an integer is required, not float", spec.type);
    if (value.is(Kind::real) && !(value.real() > -1e38 && value.real() < 1e38))
      raise("cannot convert float to integer");
    const Integer integer = value.is(Kind::real) ? static_cast<Integer>(value.real()) : value.integer();
    spec.precision = -1;
    print_formatted(out_, integer, spec);
  }

  StringBuilder out_;
  const String& format_;
  const Value& arguments_;
  std::vector<Value> items_;
  size_t next_ = 0;
  size_t at_ = 0;
  bool zero_ = false;
};

}  // namespace

String format_percent(Heap& heap, const String& format, const Value& arguments) {
  return PercentFormatter(heap, format, arguments).run();
}

}  // namespace luce::text::jinja
