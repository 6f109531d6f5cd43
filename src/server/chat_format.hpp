#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/reply_format.hpp"

namespace luce::server {

/// chat.completion and chat.completion.chunk objects; log-probabilities only if `logprobs`.
class ChatFormat : public ReplyFormat {
 public:
  ChatFormat(ReplyIdentity identity, int choices, bool logprobs);

  std::vector<Json> chunks(int choice, const completion::TextEvent& event) override;
  Json usage_chunk(Json usage) override;
  void collect(int choice, const completion::TextEvent& event) override;
  Json whole(Json usage) override;

 private:
  struct Message {
    bool begun = false;  // the chunk with the role was sent
    std::string content;
    std::string reasoning;
    Json tool_calls = Json::array();
    Json logprobs = Json::array();
    Json finish_reason;
  };

  Json envelope(const char* object) const;
  Json chunk(int choice, Json delta) const;
  Json delta_of(const completion::TextEvent& event) const;
  Json choice_of(int index) const;

  ReplyIdentity identity_;
  bool logprobs_;
  std::vector<Message> messages_;
};

}  // namespace luce::server
