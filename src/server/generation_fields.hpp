#pragma once

#include <string>

#include "completion/input.hpp"
#include "server/field_reader.hpp"

namespace luce::server {

/// What the loaded model bounds.
struct RequestBounds {
  int vocabulary = 0;  // tokens
  int choices = 8;     // n, or prompts times n
};

/// How the replies of one request are delivered.
struct DeliveryOptions {
  int choices = 1;
  bool stream = false;
  bool include_usage = false;  // a last chunk with usage
};

/// The fields that chat and text completion share.
completion::GenerationSettings parse_generation(const Json& body, const RequestBounds& bounds);
DeliveryOptions parse_delivery(const Json& body, const RequestBounds& bounds);
/// The model asked for, empty if none is named.
std::string parse_model(const Json& body);

}  // namespace luce::server
