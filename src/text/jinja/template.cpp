#include "text/jinja/template.hpp"

#include "base/error.hpp"
#include "base/format.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/json_values.hpp"
#include "text/jinja/parser.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {

class Template::Impl {
 public:
  explicit Impl(std::string_view source) : body_(parse(source, names_)) {}

  RenderedPrompt render(std::span<const Input> inputs, const std::tm& now, const Limits& limits) const {
    Heap heap(limits);
    Render render{heap, names_, now, {}, 0};
    try {
      StringBuilder out(heap);
      Frame frame{render, std::make_shared<Scope>(heap, nullptr), &out};
      for (const Input& input : inputs) {
        const NameId* name = names_.find(std::string(input.name));
        if (name != nullptr) frame.scope->set(*name, from_json(heap, input.value, input.origin));
      }
      execute(body_, frame);
      return out.release();
    } catch (const LimitError& error) {
      throw LimitReached(fmt::format("chat template, {}: {}", describe(render.at), error.what()));
    } catch (const TemplateError& error) {
      fail(ErrorKind::invalid_request, "chat template, {}: {}", describe(render.at), error.what());
    }
  }

  const Names& names() const { return names_; }

 private:
  static Body parse(std::string_view source, Names& names) {
    try {
      return Parser(tokenize(replace_invalid_utf8(source)), names).parse();
    } catch (const TemplateError& error) {
      fail(ErrorKind::invalid_file, "chat template, {}", error.what());
    }
  }

  Names names_;
  Body body_;
};

Template::Template(std::string_view source) : impl_(std::make_unique<const Impl>(source)) {}
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

RenderedPrompt Template::render(std::span<const Input> inputs, const std::tm& now, const Limits& limits) const {
  return impl_->render(inputs, now, limits);
}

bool Template::mentions(const std::string& name) const { return impl_->names().find(name) != nullptr; }

}  // namespace luce::text::jinja
