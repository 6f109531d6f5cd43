#include "server/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::server {
namespace {

constexpr int kBacklog = 1024;

struct AddressListDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressListDeleter>;

AddressList resolve(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0)
    fail(ErrorKind::usage, "cannot listen on host '{}': {}; give an address of this machine with --host", host,
         gai_strerror(code));
  return AddressList(found);
}

std::string without_brackets(const std::string& host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') return host.substr(1, host.size() - 2);
  return host;
}

std::string address_text(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof(host), port, sizeof(port),
              NI_NUMERICHOST | NI_NUMERICSERV);
  return address.ss_family == AF_INET6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

/// A listening socket, or errno.
FileDescriptor open_socket(const addrinfo& address, int& error) {
  FileDescriptor fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  error = 0;
  if (!fd.valid()) {
    error = errno;
    return fd;
  }
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    error = errno;
    return {};
  }
  return fd;
}

Listener listen_at(const addrinfo& address, const std::string& host, int port) {
  int error = 0;
  FileDescriptor fd = open_socket(address, error);
  if (error == EADDRINUSE)
    fail(ErrorKind::io, "port {} on {} is already in use; stop the other program or choose another with --port", port,
         host);
  if (error != 0)
    fail(ErrorKind::io, "cannot listen on {} port {}: {}; choose another with --host and --port", host, port,
         std::generic_category().message(error));
  std::string text = address_text(fd.get());
  return {std::move(fd), std::move(text)};
}

std::vector<Listener> listen_on_both_loopbacks(int port) {
  std::vector<Listener> listeners;
  listeners.push_back(listen_at(*resolve("127.0.0.1", port), "127.0.0.1", port));
  const AddressList six = resolve("::1", port_of(listeners[0]));
  int error = 0;
  FileDescriptor fd = open_socket(*six, error);
  if (error == EADDRINUSE && port != 0)
    fail(ErrorKind::io, "port {} on ::1 is already in use; stop the other program or choose another with --port", port);
  if (error == 0) {
    std::string text = address_text(fd.get());
    listeners.push_back({std::move(fd), std::move(text)});
  }
  return listeners;
}

bool is_loopback_address(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    const auto* const four = reinterpret_cast<const sockaddr_in*>(address.ai_addr);
    return (ntohl(four->sin_addr.s_addr) >> 24) == 127;
  }
  if (address.ai_family != AF_INET6) return false;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address.ai_addr)->sin6_addr);
}

}  // namespace

std::vector<Listener> listen_on(const std::string& host, int port) {
  if (host == "localhost") return listen_on_both_loopbacks(port);
  const std::string name = without_brackets(host);
  std::vector<Listener> listeners;
  listeners.push_back(listen_at(*resolve(name, port), name, port));
  return listeners;
}

int port_of(const Listener& listener) { return std::stoi(listener.address.substr(listener.address.rfind(':') + 1)); }

bool is_loopback(const std::string& host) {
  if (host == "localhost") return true;
  const AddressList list = resolve(without_brackets(host), 0);
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next)
    if (!is_loopback_address(*each)) return false;
  return true;
}

}  // namespace luce::server
