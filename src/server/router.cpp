#include "server/router.hpp"

namespace luce::server {
namespace {

bool takes(const Route& route, std::string_view path) {
  if (route.path.back() != '/' || route.path.size() == 1) return route.path == path;
  return path.size() > route.path.size() && path.substr(0, route.path.size()) == route.path;
}

}  // namespace

const Route* Router::find(std::string_view method, std::string_view path) const {
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& each : routes_)
    if (each.method == wanted && takes(each, path)) return &each;
  return nullptr;
}

std::string Router::methods_of(std::string_view path) const {
  std::string methods;
  for (const Route& each : routes_) {
    if (!takes(each, path)) continue;
    if (!methods.empty()) methods += ", ";
    methods += each.method == "GET" ? "GET, HEAD" : each.method;
  }
  return methods;
}

}  // namespace luce::server
