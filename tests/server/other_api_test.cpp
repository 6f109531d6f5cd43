// The routes /v1/messages (Anthropic) and /v1/responses (OpenAI): cases of tests/golden/cases and what their clients
// rely on.
#include "completion/reply_fixture.hpp"
#include "server/messages_format.hpp"
#include "server/messages_request.hpp"
#include "server/responses_format.hpp"
#include "server/responses_request.hpp"
#include "server/server_fixture.hpp"

namespace luce::server {
namespace {

using completion::ReadReply;
using completion::ReadSettings;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> types_of(const std::vector<Json>& events) {
  std::vector<std::string> types;
  for (const Json& event : events)
    if (types.empty() || event["type"] != types.back() ||
        event["type"].get<std::string>().find("delta") == std::string::npos)
      types.push_back(event["type"]);
  return types;
}

std::string deltas(const std::vector<Json>& events, const char* key, int index = -1) {
  std::string text;
  for (const Json& event : events)
    if (event["type"] == "content_block_delta" && event["delta"].contains(key) &&
        (index < 0 || event["index"] == index))
      text += event["delta"][key].get<std::string>();
  return text;
}

/// The events of a stream over HTTP; each frame's name is the type in its data.
std::vector<Json> events_of(const HttpReply& reply) {
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_TRUE(reply.complete);
  EXPECT_THAT(reply.body, Not(HasSubstr("[DONE]")));
  std::string names, types;
  std::istringstream lines(reply.body);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("event: ")) names += line.substr(7) + " ";
  const std::vector<Json> events = reply.chunks();
  for (const Json& event : events) types += event["type"].get<std::string>() + " ";
  EXPECT_EQ(names, types);
  return events;
}

/// What a format makes of a model's output that comes in pieces.
template <typename Format>
std::vector<Json> streamed(Format format, const ReadSettings& settings, const std::string& output, size_t bytes) {
  const ReadReply reply = completion::read_reply(settings, completion::pieces_of(output, bytes));
  completion::Done done;
  done.end = reply.calls.empty() ? completion::ReplyEnd::stop : completion::ReplyEnd::tool_calls;
  done.usage = {.prompt_tokens = 9, .cached_tokens = 4, .completion_tokens = 7};
  std::vector<Json> events;
  for (const completion::TextEvent& event : reply.events)
    for (Json& each : format.chunks(0, event)) events.push_back(std::move(each));
  for (Json& each : format.chunks(0, done)) events.push_back(std::move(each));
  return events;
}

/// What a format makes of the whole output.
template <typename Format>
Json whole(Format format, const ReadSettings& settings, const std::string& output) {
  const ReadReply reply = completion::read_reply(settings, {output});
  completion::Done done;
  done.end = reply.calls.empty() ? completion::ReplyEnd::stop : completion::ReplyEnd::tool_calls;
  for (const completion::TextEvent& event : reply.events) format.collect(0, event);
  format.collect(0, done);
  return format.whole({});
}

MessagesFormat messages_format() { return {make_identity("msg_", "m"), 9}; }

Json chat_tools(const Json& tools) {
  return chat_of_messages({{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"tools", tools}})["tools"];
}

std::string prompt_of(const Json& request) {
  const text::ChatTemplate chat(completion::read_file(support::golden_path("templates/Qwen3.5-4B.jinja")));
  const Json body = chat_of_messages(request);
  text::ChatInput input;
  input.messages = body["messages"];
  input.tools = body.value("tools", Json());
  input.add_generation_prompt = true;
  return chat.render(input).text;
}

TEST(MessagesApi, TextEvents) {
  const Json given = read_case("streaming", "messages-api-text-events")["given"];
  const RunningServer server;
  const std::vector<Json> events = events_of(server.post("/v1/messages", given["request"]));
  EXPECT_EQ(types_of(events), (std::vector<std::string>{"message_start", "content_block_start", "content_block_delta",
                                                        "content_block_stop", "message_delta", "message_stop"}));
  const Json& message = events[0]["message"];
  EXPECT_TRUE(message["id"].is_string());
  EXPECT_EQ(message["type"], "message");
  EXPECT_EQ(message["role"], "assistant");
  EXPECT_EQ(message["content"], Json::array());
  EXPECT_TRUE(message["model"].is_string());
  EXPECT_TRUE(message["stop_reason"].is_null());
  EXPECT_GT(message["usage"]["input_tokens"], 0);
  const Json& last = events[events.size() - 2];
  EXPECT_THAT(last["delta"]["stop_reason"].get<std::string>(), AnyOf("end_turn", "max_tokens"));
  EXPECT_THAT(last["usage"]["output_tokens"].get<int>(), testing::AllOf(testing::Ge(1), testing::Le(8)));
}

TEST(MessagesApi, CountTokens) {
  const Json given = read_case("http", "count-tokens-endpoint")["given"];
  const RunningServer server;
  const HttpReply counted = server.post("/v1/messages/count_tokens", given["request"]);
  ASSERT_EQ(counted.status, 200) << counted.body;
  Json request = given["request"];
  request["max_tokens"] = 1;
  const Json usage = server.post("/v1/messages", request).json()["usage"];
  EXPECT_EQ(counted.json()["input_tokens"].get<int>(),
            usage["input_tokens"].get<int>() + usage["cache_read_input_tokens"].get<int>());
}

TEST(MessagesApi, UsageCounts) {
  read_case("context", "messages-usage-counts");
  ServerOptions options = hybrid();
  const RunningServer server(options);
  const Json request = {{"max_tokens", 4}, {"messages", {{{"role", "user"}, {"content", words(300)}}}}};
  const int counted = server.post("/v1/messages/count_tokens", request).json()["input_tokens"];
  std::vector<int> read_from_cache;
  for (int round = 0; round < 2; ++round) {
    const Json usage = server.post("/v1/messages", request).json()["usage"];
    read_from_cache.push_back(usage["cache_read_input_tokens"]);
    EXPECT_EQ(usage["input_tokens"].get<int>() + usage["cache_read_input_tokens"].get<int>() +
                  usage["cache_creation_input_tokens"].get<int>(),
              counted);
  }
  EXPECT_EQ(read_from_cache[0], 0);
  EXPECT_GT(read_from_cache[1], 0);
}

TEST(MessagesApi, ForcedTool) {
  const Json given = read_case("tool_calls", "messages-api-forced-tool")["given"];
  for (const ServerOptions& options : {ServerOptions{}, hybrid()}) {
    const RunningServer server(options);
    const HttpReply reply = server.post("/v1/messages", given["request"]);
    ASSERT_EQ(reply.status, 200) << reply.body;
    const Json body = reply.json();
    ASSERT_EQ(body["content"].size(), 1U) << body;
    EXPECT_EQ(body["content"][0]["type"], "tool_use");
    EXPECT_EQ(body["content"][0]["name"], "get_time");
    EXPECT_EQ(body["content"][0]["input"], Json::object());
    EXPECT_FALSE(body["content"][0]["id"].get<std::string>().empty());
    EXPECT_EQ(body["stop_reason"], "tool_use");
  }
}

TEST(MessagesApi, ThinkingEvents) {
  const Json given = read_case("reasoning", "messages-api-thinking-events")["given"];
  const std::vector<Json> events = streamed(messages_format(), {.starts_in_reasoning = true}, given["model_output"], 4);
  EXPECT_EQ(events[1]["content_block"]["type"], "thinking");
  EXPECT_EQ(events[1]["content_block"]["thinking"], "");
  EXPECT_EQ(deltas(events, "thinking", 0), "Hm, ok.");
  EXPECT_EQ(deltas(events, "text", 1), "Fine.");
  const auto signature = std::find_if(events.begin(), events.end(), [](const Json& event) {
    return event.contains("delta") && event["delta"].contains("signature");
  });
  ASSERT_NE(signature, events.end());
  EXPECT_EQ((*signature)["index"], 0);
  EXPECT_EQ((*std::next(signature))["type"], "content_block_stop");
  EXPECT_EQ((*std::next(signature, 2))["content_block"]["type"], "text");
  EXPECT_EQ(events[events.size() - 2]["delta"]["stop_reason"], "end_turn");
}

TEST(MessagesApi, ToolStreamEvents) {
  const Json given = read_case("tool_calls", "messages-api-tool-stream-events")["given"];
  const ReadSettings settings{.tools = chat_tools(given["tools"])};
  const std::vector<Json> events = streamed(messages_format(), settings, given["model_output"], 5);
  EXPECT_EQ(types_of(events),
            (std::vector<std::string>{"message_start", "content_block_start", "content_block_delta",
                                      "content_block_stop", "content_block_start", "content_block_delta",
                                      "content_block_stop", "message_delta", "message_stop"}));
  EXPECT_GT(events[0]["message"]["usage"]["input_tokens"], 0);
  EXPECT_EQ(deltas(events, "text"), "Running.");
  EXPECT_EQ(Json::parse(deltas(events, "partial_json", 1)), Json({{"cmd", "ls -l"}}));
  const auto tool = std::find_if(events.begin(), events.end(), [](const Json& event) {
    return event.contains("content_block") && event["content_block"]["type"] == "tool_use";
  });
  ASSERT_NE(tool, events.end());
  EXPECT_EQ((*tool)["index"], 1);
  EXPECT_EQ((*tool)["content_block"]["name"], "run");
  EXPECT_EQ((*tool)["content_block"]["input"], Json::object());
  const Json& last = events[events.size() - 2];
  EXPECT_EQ(last["delta"]["stop_reason"], "tool_use");
  EXPECT_EQ(last["usage"]["output_tokens"], 7);
  const Json body = whole(messages_format(), settings, given["model_output"]);
  EXPECT_EQ(body["content"][1]["input"], Json({{"cmd", "ls -l"}}));
}

TEST(MessagesApi, ToolHistory) {
  const Json test = read_case("tool_calls", "messages-api-tool-history");
  const std::string prompt = prompt_of(test["given"]["request"]);
  for (const Json& expected : test["expect"]) {
    if (!expected.is_object()) continue;
    if (expected.contains("contains")) {
      EXPECT_THAT(prompt, HasSubstr(expected["contains"].get<std::string>()));
    } else {
      EXPECT_THAT(prompt, Not(HasSubstr(expected["not_contains"].get<std::string>())));
    }
  }
}

TEST(MessagesApi, SystemAfterFirstUserAndBillingLine) {
  const Json late = read_case("template", "messages-api-system-after-first-user");
  EXPECT_EQ(prompt_of(late["given"]["request"]), late["expect"][0]["equals"]);
  const RunningServer server(hybrid());
  const HttpReply reply = server.post("/v1/messages", late["given"]["request"]);
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()["type"], "message");
  const Json billing = read_case("template", "billing-line-stripped");
  EXPECT_EQ(prompt_of(billing["given"]["request_a"]), billing["expect"][0]["equals"]);
  EXPECT_EQ(prompt_of(billing["given"]["request_b"]), billing["expect"][0]["equals"]);
}

TEST(MessagesApi, BareClosingTag) {
  const Json given = read_case("tool_calls", "bare-closing-tag")["given"];
  const Json body = whole(messages_format(), {.tools = given["tools"]}, given["model_output"]);
  EXPECT_EQ(body["stop_reason"], "end_turn");
  EXPECT_LE(body["content"].size(), 1U);
}

// The value at a path such as "tools[0].input_schema" replaced; parts that are not there are made.
Json replaced_at(Json body, const std::string& path, const Json& value) {
  std::string pointer = "/";
  for (const char c : path) pointer += c == '.' || c == '[' ? "/" : (c == ']' ? "" : std::string(1, c));
  body[Json::json_pointer(pointer)] = value;
  return body;
}

TEST(OtherApis, WrongTypeOtherEndpoints) {
  const Json given = read_case("http", "wrong-type-other-endpoints")["given"];
  const RunningServer server;
  const Json messages = {{"max_tokens", 1},
                         {"system", {{{"type", "text"}, {"text", "s"}}}},
                         {"messages", {{{"role", "user"}, {"content", {{{"type", "text"}, {"text", "a"}}}}}}},
                         {"tools", {{{"name", "f"}, {"input_schema", Json::object()}}}}};
  const Json responses = {{"max_output_tokens", 1},
                          {"text", {{"format", {{"type", "text"}}}}},
                          {"input", {{{"role", "user"}, {"content", {{{"type", "input_text"}, {"text", "a"}}}}}}}};
  ASSERT_EQ(server.post("/v1/messages", messages).status, 200) << server.post("/v1/messages", messages).body;
  ASSERT_EQ(server.post("/v1/responses", responses).status, 200) << server.post("/v1/responses", responses).body;
  for (const auto& [endpoint, fields] : given["endpoints"].items()) {
    const std::string path = endpoint.substr(endpoint.find(' ') + 1);
    const Json valid = path == "/v1/messages" ? messages : responses;
    if (path == "/v1/completions") continue;
    for (const std::string field : fields)
      for (const Json& value : given["values"]) {
        const HttpReply reply = server.post(path, replaced_at(valid, field, value));
        EXPECT_THAT(reply.status, AnyOf(200, 400)) << path << " " << field << " " << value << reply.body;
        if (reply.status == 200) continue;
        const Json error = reply.json();
        EXPECT_FALSE(error["error"]["message"].get<std::string>().empty());
        EXPECT_TRUE(error["error"]["type"].is_string());
        EXPECT_EQ(error.value("type", ""), path == "/v1/messages" ? "error" : "");
      }
  }
  server.expect_alive();
}

TEST(MessagesApi, ErrorsHaveItsShape) {
  ServerOptions options;
  options.http.access.api_keys = {"k"};
  const RunningServer server(options);
  const auto type_of = [](const HttpReply& reply) { return reply.json()["error"]["type"]; };
  EXPECT_EQ(type_of(server.post("/v1/messages", Json::object())), "authentication_error");
  const HeaderList key = {{"x-api-key", "k"}};
  EXPECT_EQ(type_of(server.post("/v1/messages", Json::object(), key)), "invalid_request_error");
  EXPECT_EQ(type_of(server.post("/v1/messages/none", Json::object(), key)), "not_found_error");
  const Json long_chat = {{"max_tokens", 1}, {"messages", {{{"role", "user"}, {"content", words(3000)}}}}};
  const HttpReply overflow = server.post("/v1/messages", long_chat, key);
  EXPECT_EQ(overflow.status, 400);
  EXPECT_EQ(overflow.json()["type"], "error");
  EXPECT_THAT(overflow.body, HasSubstr("maximum context length"));
  const Json image = {{"max_tokens", 1}, {"messages", {{{"role", "user"}, {"content", {{{"type", "image"}}}}}}}};
  EXPECT_THAT(server.post("/v1/messages", image, key).body, HasSubstr("image"));
}

TEST(MessagesApi, StopSequences) {
  completion::Done done;
  done.stop_string = "END";
  MessagesFormat format = messages_format();
  format.collect(0, done);
  const Json body = format.whole({});
  EXPECT_EQ(body["stop_reason"], "stop_sequence");
  EXPECT_EQ(body["stop_sequence"], "END");
}

TEST(ResponsesApi, TextEvents) {
  const Json given = read_case("streaming", "responses-api-text-events")["given"];
  const RunningServer server;
  Json request = given["request"];
  request["reasoning"] = {{"effort", "none"}};  // the model at hand would think
  const std::vector<Json> events = events_of(server.post("/v1/responses", request));
  std::vector<std::string> types = types_of(events);
  const std::string end = types.back();
  EXPECT_THAT(end, AnyOf("response.completed", "response.incomplete"));
  types.pop_back();
  EXPECT_EQ(types,
            (std::vector<std::string>{"response.created", "response.output_item.added", "response.content_part.added",
                                      "response.output_text.delta", "response.output_text.done",
                                      "response.content_part.done", "response.output_item.done"}));
  std::string text;
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i]["sequence_number"], i);
    if (events[i]["type"] != "response.output_text.delta") continue;
    EXPECT_TRUE(events[i]["item_id"].is_string());
    EXPECT_EQ(events[i]["output_index"], 0);
    EXPECT_EQ(events[i]["content_index"], 0);
    text += events[i]["delta"].get<std::string>();
  }
  const Json& response = events.back()["response"];
  EXPECT_TRUE(response["id"].is_string());
  EXPECT_EQ(response["status"], end.substr(end.find('.') + 1));
  EXPECT_EQ(response["output"][0]["content"][0]["text"], text);
  EXPECT_EQ(response["output"][0]["content"][0]["annotations"], Json::array());
  EXPECT_GT(response["usage"]["total_tokens"], 0);
}

TEST(ResponsesApi, ForeignToolsSkipped) {
  const Json given = read_case("tool_calls", "responses-api-foreign-tools-skipped")["given"];
  const RunningServer server(hybrid());
  testing::internal::CaptureStderr();
  const HttpReply reply = server.post("/v1/responses", given["request"]);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_THAT(log, testing::AllOf(HasSubstr("warning"), HasSubstr("web_search, image_generation, namespace, custom")));
  const Json tools = chat_of_responses(given["request"])["tools"];
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0]["function"]["name"], "ping");
}

TEST(ResponsesApi, CallsAndReasoning) {
  const Json tools = Json::parse(
      R"([{"type":"function","function":{"name":"run","parameters":{"properties":{"cmd":{"type":"string"}}}}}])");
  const ReadSettings settings{.tools = tools, .starts_in_reasoning = true};
  const std::string output =
      "Hm.\n</think>\n\nRunning.\n<tool_call>\n<function=run>\n<parameter=cmd>\nls\n</parameter>\n</function>\n</"
      "tool_call>";
  const std::vector<Json> events = streamed(ResponsesFormat(make_identity("resp_", "m")), settings, output, 3);
  const Json streamed_output = events.back()["response"]["output"];
  ASSERT_EQ(streamed_output.size(), 3U);
  EXPECT_EQ(streamed_output[0]["type"], "reasoning");
  EXPECT_EQ(streamed_output[1]["content"][0]["text"], "Running.");
  EXPECT_EQ(streamed_output[2]["type"], "function_call");
  EXPECT_EQ(Json::parse(streamed_output[2]["arguments"].get<std::string>()), Json({{"cmd", "ls"}}));
  Json whole_output = whole(ResponsesFormat(make_identity("resp_", "m")), settings, output)["output"];
  Json comparable = streamed_output;
  for (Json* each : {&whole_output, &comparable})
    for (Json& item : *each) {
      item.erase("id");
      item.erase("call_id");
    }
  EXPECT_EQ(whole_output, comparable);
}

TEST(ResponsesApi, HistoryBecomesMessages) {
  const Json chat = chat_of_responses(Json::parse(R"({"instructions":"i","input":[
      {"role":"user","content":"q"},
      {"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"why"}]},
      {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
      {"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},
      {"type":"function_call_output","call_id":"c1","output":"r1"},
      {"type":"function_call_output","call_id":"c2","output":"r2"}],
      "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},"reasoning":{"effort":"none"},"max_output_tokens":5})"));
  ASSERT_EQ(chat["messages"].size(), 5U) << chat;
  EXPECT_EQ(chat["messages"][2]["reasoning_content"], "why");
  EXPECT_EQ(chat["messages"][2]["tool_calls"].size(), 2U);
  EXPECT_EQ(chat["messages"][4]["content"], "r2");
  EXPECT_EQ(chat["response_format"]["json_schema"]["schema"], Json({{"type", "object"}}));
  EXPECT_EQ(chat["reasoning_effort"], "none");
  EXPECT_EQ(chat["max_tokens"], 5);
  for (const char* refused : {R"({"input":"a","previous_response_id":"r"})", R"({"input":"a","background":true})",
                              R"({"input":[{"type":"item_reference","id":"x"}]})", R"({"input":[]})", "{}"})
    EXPECT_THROW(chat_of_responses(Json::parse(refused)), Error) << refused;
}

}  // namespace
}  // namespace luce::server
