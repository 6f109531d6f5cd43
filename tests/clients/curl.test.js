// curl on the command line, and Python as a plain script would call the server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startServer } from "./server_process.js";

const run = promisify(execFile);
let server;

before(async () => {
  server = await startServer();
});

after(async () => assert.equal(await server.stop(), 0));

const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }], max_tokens: 4 });

async function curl(...options) {
  return (await run("curl", ["-sS", ...options])).stdout;
}

test("curl: chat, stream, metrics, IPv6", async () => {
  const json = ["-H", "Content-Type: application/json", "-d", body, `${server.baseURL}/chat/completions`];
  assert.equal(JSON.parse(await curl(...json)).object, "chat.completion");
  const stream = JSON.stringify({ ...JSON.parse(body), stream: true });
  const frames = await curl("-N", "--json", stream, `${server.baseURL}/chat/completions`);
  assert.ok(frames.endsWith("data: [DONE]\n\n"));
  assert.match(await curl(`${server.url}/metrics`), /luce_gpu_cache_hit_ratio\{device="cpu"\}/);
  const port = new URL(server.url).port;
  assert.equal(JSON.parse(await curl("-6", `http://localhost:${port}/health`)).status, "ok");
});

test("curl: a large body waits for 100 Continue, a form is refused with a clear message", async () => {
  const large = JSON.stringify({ ...JSON.parse(body), padding: "x".repeat(2_000_000) });
  const child = run("curl", ["-sS", "--json", "@-", `${server.baseURL}/chat/completions`]);
  child.child.stdin.end(large);
  assert.equal(JSON.parse((await child).stdout).object, "chat.completion");
  const refused = JSON.parse(await curl("-d", body, `${server.baseURL}/chat/completions`));
  assert.match(refused.error.message, /Content-Type: application\/json/);
});

test("Python: a plain post with metadata and a session_id inside the first message", async () => {
  const script = fileURLToPath(new URL("plain_post.py", import.meta.url));
  const { stdout } = await run("python3", [script, server.baseURL]);
  const reply = JSON.parse(stdout);
  assert.equal(reply.choices[0].message.role, "assistant");
  assert.ok(reply.timings.experts.hits >= 0);
});
