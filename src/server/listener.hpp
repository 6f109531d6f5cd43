#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/file_descriptor.hpp"

namespace luce::server {

/// A listening socket and the address it has.
struct Listener {
  FileDescriptor socket;
  std::string address;  // "127.0.0.1:8000" or "[::1]:8000"
};

/// Listens on `host`:`port`. Port 0 takes a free one, the same for all addresses. "localhost" means both loopback
/// addresses, of which IPv6 may be missing; other names are resolved, "0.0.0.0" and "::" take every address.
/// Throws Error{io} naming the port when it is in use and the address when it cannot be had.
std::vector<Listener> listen_on(const std::string& host, int port);

/// The port that a listener got.
int port_of(const Listener& listener);

/// True if every address of `host` is a loopback address.
bool is_loopback(const std::string& host);

}  // namespace luce::server
