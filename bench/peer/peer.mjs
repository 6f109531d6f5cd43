// One engine's turn with llama.cpp by way of node-llama-cpp: prints {"prompt": tokens/s, "decode": tokens/s}.
// Usage: node peer.mjs MODEL THREADS PROMPT_TOKENS GEN_TOKENS DEPTH
import {getLlama, LlamaLogLevel} from "node-llama-cpp";

const [modelPath, ...numbers] = process.argv.slice(2);
const [threads, promptTokens, genTokens, depth] = numbers.map(Number);
const kBatchTokens = 512;

// The build that came with the package picks the best code for this processor; KV in f16 with flash attention.
const llama = await getLlama({gpu: false, build: "never", maxThreads: 0, logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath, gpuLayers: 0});
const context = await model.createContext({
  contextSize: Math.max(promptTokens, depth) + genTokens + 64,
  batchSize: kBatchTokens,
  threads: {ideal: threads, min: threads},
  flashAttention: true
});
const sequence = context.getSequence({checkpoints: {max: 0, interval: false}});

// Any tokens do: every one costs the same. They differ, so that all experts are asked for.
const someTokens = (count) => Array.from({length: count}, (_, i) => 100 + (i * 7919) % 1000);
const perSecond = (count, begin, end) => count / (end - begin) * 1000;

async function fill(count) {
  await sequence.clearHistory();
  const begin = performance.now();
  if (count > 0) await sequence.evaluateWithoutGeneratingNewTokens(someTokens(count));
  return perSecond(count, begin, performance.now());
}

async function decode(count) {
  let begin = 0, tokens = 0;
  for await (const _ of sequence.evaluate([200], {temperature: 0, yieldEogToken: true})) {
    if (tokens === 0) begin = performance.now();
    if (++tokens > count) break;
  }
  return perSecond(tokens - 1, begin, performance.now());
}

await fill(Math.min(promptTokens || kBatchTokens, kBatchTokens));  // warm-up: pages, threads, code
const prompt = promptTokens > 0 ? await fill(promptTokens) : 0;
if (depth !== promptTokens) await fill(depth);
console.log(JSON.stringify({prompt, decode: genTokens > 0 ? await decode(genTokens) : 0}));
process.exit(0);
