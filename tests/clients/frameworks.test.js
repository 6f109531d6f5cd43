// The Vercel AI SDK's provider for OpenAI-compatible servers and LangChain.js, unmodified.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText } from "ai";
import { startServer } from "./server_process.js";

let server;

before(async () => {
  server = await startServer();
});

after(async () => assert.equal(await server.stop(), 0));

const prompt = "Was ist python3-numpy?";

test("AI SDK: whole and streamed", async () => {
  const provider = createOpenAICompatible({ name: "luce-spark", baseURL: server.baseURL, includeUsage: true });
  const model = provider("demo-q4_k_m");
  const whole = await generateText({ model, prompt, temperature: 0, maxOutputTokens: 16, maxRetries: 0 });
  assert.match(whole.text, /^Python-3-Modul/);
  assert.equal(whole.usage.outputTokens, 16);
  const streamed = streamText({ model, prompt, temperature: 0, maxOutputTokens: 16, maxRetries: 0 });
  let text = "";
  for await (const part of streamed.textStream) text += part;
  assert.equal(text, whole.text);
  assert.equal((await streamed.usage).outputTokens, 16);
});

test("LangChain: whole and streamed", async () => {
  const model = new ChatOpenAI({
    model: "demo-q4_k_m",
    apiKey: "none",
    temperature: 0,
    maxTokens: 16,
    maxRetries: 0,
    configuration: { baseURL: server.baseURL },
  });
  const whole = await model.invoke(prompt);
  assert.match(whole.content, /^Python-3-Modul/);
  assert.equal(whole.usage_metadata.output_tokens, 16);
  let text = "";
  for await (const chunk of await model.stream(prompt)) text += chunk.content;
  assert.equal(text, whole.content);
});
