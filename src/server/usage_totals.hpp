#pragma once

#include "completion/json.hpp"
#include "completion/text_event.hpp"

namespace luce::server {

/// Sums up the replies of one request for `usage` and `timings`.
class UsageTotals {
 public:
  /// A prompt shared by several choices counts once, with `first_of_prompt`.
  void add(const completion::Done& done, bool first_of_prompt);

  completion::Json usage() const;
  /// prompt_tokens_per_second, tokens_per_second, and what the expert cache did.
  completion::Json timings() const;

  int prompt_tokens() const { return usage_.prompt_tokens; }
  int completion_tokens() const { return usage_.completion_tokens; }

 private:
  completion::Usage usage_;
  engine::RequestStats stats_;
  int prompt_tokens_computed_ = 0;
  int decoded_tokens_ = 0;  // after the first of each choice
};

}  // namespace luce::server
