// Runs a model file through luce-spark and llama.cpp in turn and prints the medians and their ratios.
// Usage: node compare.mjs PATH_OF_LUCE_SPARK MODEL [--threads N] [--prompt N] [--gen N] [--depth N] [--repeat N] [--busy]
import {execFileSync, spawn} from "node:child_process";
import {availableParallelism} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    threads: {type: "string", default: String(availableParallelism())},
    prompt: {type: "string", default: "512"},
    gen: {type: "string", default: "64"},
    depth: {type: "string", default: "0"},
    repeat: {type: "string", default: "5"},
    busy: {type: "boolean", default: false}
  }
});
if (positionals.length !== 2) {
  console.error("give the luce-spark program and a model file");
  process.exit(2);
}
const [program, model] = positionals;
const folder = dirname(fileURLToPath(import.meta.url));
const context = Math.max(Number(values.prompt), Number(values.depth)) + Number(values.gen) + 64;

function runOurs() {
  const report = JSON.parse(execFileSync(program, [
    "bench", "--json", "--model", model, "--threads", values.threads, "--repeat", "1", "--device", "cpu",
    "--ctx-size", String(context), "--prompt-tokens", values.prompt, "--gen-tokens", values.gen, "--depth", values.depth
  ], {stdio: ["ignore", "pipe", "ignore"], encoding: "utf8"}));
  const of = (work) => report.results.find((result) => result.work === work);
  return {
    prompt: of("prompt")?.tokens_per_second ?? 0,
    decode: of("decode")?.tokens_per_second ?? 0,
    share: of("decode")?.share_of_bandwidth ?? 0,
    bandwidth: report.read_bandwidth_gb_per_second
  };
}

function runPeer() {
  const out = execFileSync("node", [
    join(folder, "peer.mjs"), model, values.threads, values.prompt, values.gen, values.depth
  ], {stdio: ["ignore", "pipe", "ignore"], encoding: "utf8"});
  return JSON.parse(out.trim().split("\n").at(-1));
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const show = (number) => number.toFixed(number < 10 ? 2 : 1).padStart(9);

const busy = values.busy ? spawn("sh", ["-c", "while :; do :; done"], {stdio: "ignore"}) : null;
const ours = [], theirs = [];
try {
  for (let turn = 0; turn < Number(values.repeat); ++turn) {
    ours.push(runOurs());
    theirs.push(runPeer());
    console.error(`turn ${turn + 1}: luce-spark ${JSON.stringify(ours.at(-1))}, llama.cpp ${JSON.stringify(theirs.at(-1))}`);
  }
} finally {
  busy?.kill();
}

console.log(`medians of ${ours.length}, ${values.threads} threads${busy ? ", one core kept busy" : ""}, depth ${values.depth}`);
console.log("work      luce-spark  llama.cpp     ratio   (tokens/s; ratio of each turn, then its median)");
for (const work of ["prompt", "decode"]) {
  const mine = ours.map((turn) => turn[work]), peers = theirs.map((turn) => turn[work]);
  if (mine[0] === 0) continue;
  const ratio = median(mine.map((speed, turn) => speed / peers[turn]));
  console.log(`${work.padEnd(10)}${show(median(mine))}  ${show(median(peers))} ${show(ratio)}`);
}
console.log(`decode reads ${(median(ours.map((turn) => turn.share)) * 100).toFixed(0)} % of the ` +
            `${median(ours.map((turn) => turn.bandwidth)).toFixed(1)} GB/s measured in the same run`);
