#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/exchange.hpp"
#include "server/request_record.hpp"

namespace luce::server {

/// Answers one request; `record` may be told the outcome and tokens. Throws luce::Error before anything was sent.
using Handler = std::function<void(Exchange& exchange, RequestRecord& record)>;

struct Route {
  std::string method;
  std::string path;         // one that ends with '/' takes every path below it
  bool open = false;        // answers without the API key
  bool generation = false;  // may run long: answered by the workers set apart for it
  Handler handler;
};

/// The table of all routes.
class Router {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& routes() const { return routes_; }

  /// HEAD finds the route of GET. Null if there is none.
  const Route* find(std::string_view method, std::string_view path) const;
  /// Methods that the path has, as for the Allow header; empty for an unknown path.
  std::string methods_of(std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace luce::server
