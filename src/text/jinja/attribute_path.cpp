#include "text/jinja/attribute_path.hpp"

#include "text/jinja/containers.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"

namespace luce::text::jinja {

AttributePath::AttributePath(Heap& heap, const Value& path) {
  if (path.is_none()) return;
  if (path.is_integer()) {
    parts_.push_back(path);
    return;
  }
  for (const Value& part : split(heap, to_text(path, "attribute"), String::literal("."), -1)) {
    const auto index = read_integer(part.view(), 10);
    const bool digits = part.view().find_first_not_of("0123456789") == std::string_view::npos;
    parts_.push_back(index && digits ? Value(*index) : part);
  }
}

Value AttributePath::of(Frame& frame, const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) value = get_item(frame, value, part);
  return value;
}

SortKey::SortKey(Heap& heap, const Arguments& arguments, size_t case_index, size_t attribute_index)
    : case_sensitive_(arguments.boolean(case_index, "case_sensitive", false)) {
  const Value* attribute = arguments.find(attribute_index, "attribute");
  if (attribute == nullptr || attribute->is_none()) return;
  if (!attribute->is_string()) {
    paths_.emplace_back(heap, *attribute);
    return;
  }
  for (const Value& path : split(heap, attribute->string(), String::literal(","), -1)) paths_.emplace_back(heap, path);
}

Value SortKey::folded(Frame& frame, const Value& value) const {
  if (case_sensitive_ || !value.is_string()) return value;
  return change_case(frame.heap(), value.string(), Casing::lower);
}

Value SortKey::of(Frame& frame, const Value& item) const {
  if (paths_.empty()) return folded(frame, item);
  if (paths_.size() == 1) return folded(frame, paths_.front().of(frame, item));
  std::vector<Value> parts;
  for (const AttributePath& path : paths_) parts.push_back(folded(frame, path.of(frame, item)));
  return make_list(frame.heap(), std::move(parts), Flavor::list);
}

}  // namespace luce::text::jinja
