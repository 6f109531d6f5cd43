#pragma once

#include <string>
#include <vector>

#include "server/reply_format.hpp"

namespace luce::server {

/// The events of a stream and the message object of the Anthropic API; a request has one choice.
class MessagesFormat : public NamedEventFormat {
 public:
  MessagesFormat(ReplyIdentity identity, int prompt_tokens)
      : identity_(std::move(identity)), prompt_tokens_(prompt_tokens) {}

  std::vector<Json> chunks(int choice, const completion::TextEvent& event) override;
  Json failure_chunk(Json error) override;
  void collect(int choice, const completion::TextEvent& event) override;
  Json whole(Json usage) override;

 private:
  enum class Block { none, thinking, text, tool };

  Json message() const;
  void open(Block kind, Json block, std::vector<Json>& events);
  void close(std::vector<Json>& events);
  void add_delta(Json delta, std::vector<Json>& events) const;
  void add_end(const completion::Done& done, std::vector<Json>& events);

  ReplyIdentity identity_;
  int prompt_tokens_;
  bool begun_ = false;
  Block block_ = Block::none;
  int index_ = -1;                      // of the latest block
  Json content_ = Json::array();        // collected
  std::vector<std::string> arguments_;  // collected: texts of the inputs of tool blocks, by index in content_
  completion::Done done_;
};

}  // namespace luce::server
