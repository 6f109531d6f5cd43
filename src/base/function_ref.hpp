#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace luce::base {

template <typename Signature>
class FunctionRef;

/// A callable that is borrowed for the length of one call; it never allocates and must not outlive its source.
template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  // Implicit, since call sites pass lambdas; the constraint keeps copies out.
  template <typename Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
           std::is_invocable_r_v<Result, Callable&, Args...>)
      FunctionRef(Callable&& callable)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_(&call_object<std::remove_reference_t<Callable>>) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  template <typename Callable>
  static Result call_object(void* object, Args... args) {
    return (*static_cast<Callable*>(object))(std::forward<Args>(args)...);
  }

  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace luce::base
