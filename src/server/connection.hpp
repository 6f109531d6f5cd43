#pragma once

#include <chrono>
#include <string>

#include "server/file_descriptor.hpp"
#include "server/request_reader.hpp"

namespace luce::server {

using Clock = std::chrono::steady_clock;

/// One client's socket (non-blocking) with what has been read from it. Owned by the gate while a request is being read,
/// by a worker while it is answered.
struct Connection {
  Connection(FileDescriptor fd, std::string peer_address, size_t most_body_bytes)
      : socket(std::move(fd)), peer(std::move(peer_address)), reader(most_body_bytes) {}

  FileDescriptor socket;
  std::string peer;  // address without port, for the access log
  RequestReader reader;
  Clock::time_point deadline;  // for what is awaited now
  size_t progress_bytes = 0;   // of the body, since the deadline was last moved
  size_t counted_bytes = 0;    // buffered bytes as the gate has counted them
  bool overloaded = false;     // no worker was free for it
  bool lingering = false;      // answered for the last time: what still comes is thrown away
  size_t discarded_bytes = 0;  // while lingering
};

}  // namespace luce::server
