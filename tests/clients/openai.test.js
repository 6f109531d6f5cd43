// The official openai package, unmodified.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { startServer } from "./server_process.js";

let server;
let client;

before(async () => {
  server = await startServer(["--api-key", "k1", "--ctx-size", "512"]);
  client = new OpenAI({ baseURL: server.baseURL, apiKey: "k1", maxRetries: 0 });
});

after(async () => assert.equal(await server.stop(), 0));

const question = [{ role: "user", content: "Was ist python3-numpy?" }];

test("chat", async () => {
  const reply = await client.chat.completions.create({ model: "any", messages: question, temperature: 0, max_tokens: 12 });
  assert.match(reply.choices[0].message.content, /^Python-3-Modul/);
  assert.equal(reply.choices[0].finish_reason, "length");
  assert.equal(reply.usage.completion_tokens, 12);
});

test("a stream gives the text of the whole answer, and usage when asked", async () => {
  const request = { model: "any", messages: question, temperature: 0, max_tokens: 24 };
  const whole = await client.chat.completions.create(request);
  const stream = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
  let text = "";
  let usage = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, whole.choices[0].message.content);
  assert.equal(usage.completion_tokens, 24);
});

test("the streaming helper puts a message together", async () => {
  const runner = client.chat.completions.stream({ model: "any", messages: question, temperature: 0, max_tokens: 8 });
  const message = await runner.finalMessage();
  assert.equal(message.role, "assistant");
  assert.ok(message.content.length > 0);
});

test("a stream can be left in the middle", async () => {
  const stream = await client.chat.completions.create({ model: "any", messages: question, max_tokens: 400, stream: true });
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break;
  }
  stream.controller.abort();
  const reply = await client.chat.completions.create({ model: "any", messages: question, max_tokens: 1 });
  assert.equal(reply.usage.completion_tokens, 1);
});

test("tools may be offered", async () => {
  const tools = [
    {
      type: "function",
      function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
    },
  ];
  const reply = await client.chat.completions.create({ model: "any", messages: question, tools, max_tokens: 4 });
  assert.equal(reply.object, "chat.completion");
});

test("several choices, stop strings, log-probabilities, seed", async () => {
  const reply = await client.chat.completions.create({
    model: "any",
    messages: question,
    n: 2,
    seed: 7,
    stop: ["\n"],
    logprobs: true,
    top_logprobs: 2,
    max_tokens: 6,
  });
  assert.equal(reply.choices.length, 2);
  assert.equal(reply.choices[0].logprobs.content[0].top_logprobs.length, 2);
  assert.ok(!reply.choices[0].message.content.includes("\n"));
});

test("text completion", async () => {
  const reply = await client.completions.create({ model: "any", prompt: "#include <", max_tokens: 4, temperature: 0 });
  assert.equal(typeof reply.choices[0].text, "string");
});

test("models", async () => {
  const models = await client.models.list();
  assert.equal(models.data[0].id, "demo-q4_k_m");
  assert.equal((await client.models.retrieve("demo-q4_k_m")).id, "demo-q4_k_m");
});

test("errors come as the package's own classes", async () => {
  const wrongKey = new OpenAI({ baseURL: server.baseURL, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(wrongKey.models.list(), OpenAI.AuthenticationError);
  await assert.rejects(client.models.retrieve("none"), OpenAI.NotFoundError);
  await assert.rejects(client.embeddings.create({ model: "any", input: "a" }), (error) => error.status === 501);
  await assert.rejects(
    client.chat.completions.create({ model: "any", messages: question, temperature: -1 }),
    (error) => error instanceof OpenAI.BadRequestError && error.param === "temperature",
  );
  const long = [{ role: "user", content: "word ".repeat(2000) }];
  await assert.rejects(
    client.chat.completions.create({ model: "any", messages: long, stream: true }),
    (error) => error.code === "context_length_exceeded" && /maximum context length is 512 tokens/.test(error.message),
  );
});
