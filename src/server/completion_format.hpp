#pragma once

#include <string>
#include <vector>

#include "server/reply_format.hpp"

namespace luce::server {

/// text_completion objects, the same for streams and whole answers.
class CompletionFormat : public ReplyFormat {
 public:
  /// `prefixes`: for each choice the text that begins it (echo), empty for none.
  CompletionFormat(ReplyIdentity identity, std::vector<std::string> prefixes, bool logprobs);

  std::vector<Json> chunks(int choice, const completion::TextEvent& event) override;
  Json usage_chunk(Json usage) override;
  void collect(int choice, const completion::TextEvent& event) override;
  Json whole(Json usage) override;

 private:
  struct Choice {
    std::string unsent;     // the prefix until the first chunk
    std::string text;       // collected
    size_t characters = 0;  // before the next token
    Json logprobs;          // collected; null without
    Json finish_reason;
  };

  Json envelope() const;
  Json add_logprobs(Choice& choice, const completion::ContentDelta& delta) const;

  ReplyIdentity identity_;
  bool logprobs_;
  std::vector<Choice> choices_;
};

}  // namespace luce::server
