#include <optional>

#include "text/jinja/error.hpp"
#include "text/jinja/format.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/value_text.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

class SpecReader {
 public:
  explicit SpecReader(std::string_view text) : text_(text) {}

  FormatSpec read() {
    FormatSpec spec;
    read_alignment(spec);
    if (at('+') || at('-') || at(' ')) spec.sign = text_[at_++];
    if (at('z')) ++at_;
    if (at('#')) spec.alternate = true, ++at_;
    if (at('0')) {
      ++at_;
      if (spec.align == '\0') spec.fill = String::literal("0"), spec.align = '=';
    }
    spec.width = number();
    if (at(',') || at('_')) spec.grouping = text_[at_++];
    if (at('.')) {
      ++at_;
      if (at_ >= text_.size() || text_[at_] < '0' || text_[at_] > '9') raise("Format specifier missing precision");
      spec.precision = number();
    }
    if (at_ < text_.size()) spec.type = text_[at_++];
    if (at_ < text_.size()) raise("Invalid format specifier '{}'", text_);
    return spec;
  }

 private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  static bool is_alignment(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

  void read_alignment(FormatSpec& spec) {
    if (text_.empty()) return;
    const size_t fill = utf8_size(text_[0]);
    if (fill < text_.size() && is_alignment(text_[fill])) {
      spec.fill = String::literal(std::string(text_.substr(0, fill)));
      spec.align = text_[fill];
      at_ = fill + 1;
    } else if (is_alignment(text_[0])) {
      spec.align = text_[0];
      at_ = 1;
    }
  }

  Integer number() {
    Integer value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (value > 1'000'000'000) raise("Too many decimal digits in format string");
      value = value * 10 + (text_[at_++] - '0');
    }
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

class BraceFormatter {
 public:
  BraceFormatter(Frame& frame, const Arguments& arguments) : frame_(frame), arguments_(arguments) {}

  // Fields may stand in the specification of a field, one level deep.
  String run(const String& format, int depth) {
    if (depth > 1) raise("Max string recursion exceeded");
    StringBuilder out(frame_.heap());
    const std::string_view text = format.view();
    size_t kept = 0;
    for (size_t at = text.find_first_of("{}"); at != std::string_view::npos; at = text.find_first_of("{}", kept)) {
      out.append(format, kept, at);
      if (at + 1 < text.size() && text[at + 1] == text[at]) {
        out.append(format, at, at + 1);
        kept = at + 2;
        continue;
      }
      if (text[at] == '}') raise("Single '}}' encountered in format string");
      const size_t end = field_end(text, at);
      print_field(out, slice(frame_.heap(), format, at + 1, end), depth);
      kept = end + 1;
    }
    out.append(format, kept, text.size());
    return out.finish();
  }

 private:
  static size_t field_end(std::string_view text, size_t at) {
    int open = 0;
    for (size_t i = at; i < text.size(); ++i) {
      if (text[i] == '{') ++open;
      if (text[i] == '}' && --open == 0) return i;
    }
    raise("expected '}}' before end of string");
  }

  void print_field(StringBuilder& out, const String& field, int depth) {
    const std::string_view text = field.view();
    const size_t name_end = std::min(text.find_first_of("!:"), text.size());
    Value value = lookup(text.substr(0, name_end));
    size_t at = name_end;
    if (at < text.size() && text[at] == '!') {
      if (at + 1 >= text.size()) raise("end of string while looking for conversion specifier");
      value = converted(value, text[at + 1]);
      at += 2;
      if (at < text.size() && text[at] != ':') raise("expected ':' after conversion specifier");
    }
    String spec;
    if (at < text.size()) spec = run(slice(frame_.heap(), field, at + 1, text.size()), depth + 1);
    if (spec.empty()) return print(out, value);
    print_formatted(out, value, SpecReader(spec.view()).read());
  }

  Value converted(const Value& value, char how) {
    if (how == 's') return to_string(frame_.heap(), value);
    if (how != 'r' && how != 'a') raise("Unknown conversion specifier '{}'", how);
    StringBuilder text(frame_.heap());
    print_repr(text, value);
    return text.finish();
  }

  Value argument(std::string_view name) {
    const auto index = read_integer(name, 10);
    if (name.empty() || index) {
      const Integer at = index ? *index : Integer{next_++};
      if (at < 0 || at >= static_cast<Integer>(arguments_.positional.size())) {
        raise("Replacement index {} out of range for positional args tuple", integer_text(at));
      }
      return arguments_.positional[static_cast<size_t>(at)];
    }
    const Value* found = arguments_.find(name);
    if (found == nullptr) raise("'{}'", name);
    return *found;
  }

  // "name.attribute[item]"
  Value lookup(std::string_view path) {
    const size_t name_end = std::min(path.find_first_of(".["), path.size());
    Value value = argument(path.substr(0, name_end));
    for (size_t at = name_end; at < path.size();) {
      const bool item = path[at] == '[';
      const size_t end = item ? path.find(']', at) : path.find_first_of(".[", at + 1);
      if (item && end == std::string_view::npos) raise("Missing ']' in format string");
      const std::string_view part = path.substr(at + 1, std::min(end, path.size()) - at - 1);
      if (part.empty()) raise("Empty attribute in format string");
      const auto index = item ? read_integer(part, 10) : std::nullopt;
      value = !item   ? get_attribute(frame_, value, part)
              : index ? get_item(frame_, value, *index)
                      : get_item(frame_, value, make_string(frame_.heap(), part));
      at = std::min(end, path.size()) + (item ? 1 : 0);
      if (item && at < path.size() && path[at] != '.' && path[at] != '[')
        raise("Only '.' or '[' may follow ']' in format field specifier");
    }
    return value;
  }

  Frame& frame_;
  const Arguments& arguments_;
  int next_ = 0;
};

}  // namespace

String format_braces(Frame& frame, const String& format, const Arguments& arguments) {
  return BraceFormatter(frame, arguments).run(format, 0);
}

}  // namespace luce::text::jinja
