#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "completion/calls/call_parser.hpp"

namespace luce::completion {

/// A reply that is nothing but {"name": NAME, "parameters": {...}}, as Llama 3.1 writes calls, with or without
/// <|python_tag|> before it; several are separated by semicolons or white space. Only names of offered functions count,
/// since a reply may be JSON for another reason.
class PlainJsonSyntax : public CallSyntax {
 public:
  std::span<const std::string> openers() const override;
  bool only_at_start() const override { return true; }
  std::unique_ptr<CallParser> parser(const ToolSet& tools) const override;
};

}  // namespace luce::completion
