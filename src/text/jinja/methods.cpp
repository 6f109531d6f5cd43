#include "text/jinja/methods.hpp"

#include "text/jinja/containers.hpp"

namespace luce::text::jinja {
namespace {

class BoundMethod final : public Object {
 public:
  BoundMethod(Heap& heap, Value self, Method method) : Object(heap), self_(std::move(self)), method_(method) {
    charge(sizeof(BoundMethod));
  }
  ~BoundMethod() override { bury(); }

  std::string_view type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  Value call(Frame& frame, Arguments& arguments) override { return method_(frame, self_, arguments); }

 protected:
  void surrender(std::vector<Value>& out) override { out.push_back(std::move(self_)); }

 private:
  Value self_;
  Method method_;
};

}  // namespace

Method find_method(const Value& self, std::string_view name) {
  switch (self.kind()) {
    case Kind::string: return find_string_method(name);
    case Kind::list: return self.list().flavor() <= Flavor::tuple ? find_list_method(name) : nullptr;
    case Kind::dict: return find_dict_method(name);
    default: return nullptr;
  }
}

std::shared_ptr<Object> bind_method(Heap& heap, Value self, Method method) {
  return std::make_shared<BoundMethod>(heap, std::move(self), method);
}

}  // namespace luce::text::jinja
