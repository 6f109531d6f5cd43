#include "base/error.hpp"

#include <array>

#include "base/check.hpp"

namespace luce::base {
namespace {

constexpr std::array<ErrorTraits, 15> kTraits = {{
    {400, "invalid_request_error", "usage"},
    {400, "invalid_request_error", "invalid_request"},
    {400, "invalid_request_error", "context_overflow"},
    {401, "authentication_error", "unauthorized"},
    {403, "permission_error", "forbidden"},
    {404, "not_found_error", "not_found"},
    {413, "invalid_request_error", "too_large"},
    {501, "not_supported_error", "unsupported"},
    {503, "overloaded_error", "overloaded"},
    {500, "server_error", "invalid_file"},
    {500, "server_error", "io"},
    {503, "server_error", "out_of_memory"},
    {499, "cancelled", "cancelled"},
    {500, "server_error", "device"},
    {500, "server_error", "internal"},
}};

}  // namespace

const ErrorTraits& traits(ErrorKind kind) {
  const auto index = static_cast<size_t>(kind);
  LUCE_CHECK(index < kTraits.size(), "unknown error kind");
  return kTraits[index];
}

}  // namespace luce::base
