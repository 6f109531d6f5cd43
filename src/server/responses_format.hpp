#pragma once

#include <string>
#include <vector>

#include "server/reply_format.hpp"

namespace luce::server {

/// The events of a stream and the response object of OpenAI's Responses API; a request has one choice.
class ResponsesFormat : public NamedEventFormat {
 public:
  explicit ResponsesFormat(ReplyIdentity identity) : identity_(std::move(identity)) {}

  std::vector<Json> chunks(int choice, const completion::TextEvent& event) override;
  Json failure_chunk(Json error) override;
  void collect(int choice, const completion::TextEvent& event) override;
  Json whole(Json usage) override;

 private:
  enum class Item { none, reasoning, message, call };

  Json response(const char* status) const;
  Json event(const char* type, const Json& fields);
  void open(Item kind, Json item, std::vector<Json>& events);
  void close(std::vector<Json>& events);
  void take(const completion::TextEvent& event, std::vector<Json>& events);
  void add_text(const std::string& text, const char* type, std::vector<Json>& events);
  void finish(const completion::Done& done);
  Json at_item() const;

  ReplyIdentity identity_;
  int sequence_ = 0;
  bool begun_ = false;
  Item item_ = Item::none;
  Json output_ = Json::array();  // items, the last of which may be open
  std::string status_ = "in_progress";
  Json usage_;
};

}  // namespace luce::server
