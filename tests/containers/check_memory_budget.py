#!/usr/bin/env python3
"""Serves a model that is larger than its memory group: the server starts, stays within, uses at least 95 % of the limit
minus the reserve that it declares, and answers. Then a neighbour takes a quarter of a real group's limit, 40 MiB a
second: expert slots give way, nobody is killed, and the answer stays the same.

    python3 tests/containers/check_memory_budget.py --build build/release

makes a synthetic model of 6 GB in the build folder, serves it in groups of 1, 2 and 4 GiB, and removes it. Groups are
real ones where the machine lets us make them (v2, else v1; as root), else files tell the server of a limit, and its
resident memory is held against that. Standard library only.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

from memory_group import make_group

MIB = 1 << 20
EXPERTS = 256
EXPERT_BYTES = 3 * 1024 * 512 * 144 // 256  # gate, up and down in Q4_K
CHAT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 16, "temperature": 0, "ignore_eos": True}


def make_model(options):
    path = os.path.join(options.build, f"budget-{os.getpid()}.gguf")
    layers = max(1, round(options.model_mb * 1e6 / (EXPERTS * EXPERT_BYTES)))
    subprocess.run([os.path.join(options.build, "make_synthetic"), path, "--arch", "qwen3moe", "--layers", str(layers),
                    "--hidden", "1024", "--heads", "8", "--kv-heads", "2", "--head-dim", "64", "--rope-dims", "64",
                    "--experts", str(EXPERTS), "--top-k", "4", "--expert-ffn", "512", "--vocab", "8192", "--format",
                    "Q4_K", "--ctx-size", "1024"], check=True)
    return path


class Server:
    def __init__(self, options, model, group):
        command = [os.path.join(options.build, "luce-spark"), "serve", "--model", model, "--port", "0", "--metrics-port",
                   "0", "--ctx-size", "1024", "--parallel", "2", "--queue", "4"]
        self.log_path = model + ".log"
        self.log = open(self.log_path, "w", encoding="utf-8")
        self.process = subprocess.Popen(command + group.flags, stderr=self.log, preexec_fn=group.enter)

    def text(self):
        with open(self.log_path, encoding="utf-8") as file:
            return file.read()

    def wait_for(self, pattern, seconds=300):
        for _ in range(seconds * 10):
            found = re.search(pattern, self.text())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"the server did not say '{pattern}':\n{self.text()}")

    def get(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.read().decode()

    def metric(self, name):
        return float(re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", self.get("/metrics"), re.M).group(1))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) * 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        os.remove(self.log_path)


NEIGHBOUR = """
import sys, time
held = []
for _ in range(int(sys.argv[1])):
    held.append(bytearray(b"x") * (10 << 20))
    time.sleep(0.25)
print("full", flush=True)
sys.stdin.read()
"""


def crowd(server, group, limit, text):
    """What is wrong when a neighbour takes a quarter of the limit."""
    before = server.metric("luce_expert_slot_bytes")
    steps = limit // 4 // (10 * MIB)
    neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(steps)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, preexec_fn=group.enter)
    try:
        full = neighbour.stdout.readline()
        time.sleep(5)  # new requests were held back; now there is room
        after = server.metric("luce_expert_slot_bytes")
        answer = json.loads(server.get("/v1/chat/completions", CHAT))["choices"][0]["message"]["content"]
    finally:
        neighbour.kill()
        neighbour.wait(30)
    print(f"       a neighbour took {steps * 10} MiB: slots went from {before / MIB:.0f} to {after / MIB:.0f} MiB",
          flush=True)
    wrong = []
    if not full or group.kills() > 0:
        wrong.append("somebody was killed when a neighbour came")
    if before - after < limit / 4 - 2 * server.metric("luce_memory_reserve_bytes"):
        wrong.append("slots did not give way to a neighbour")
    if answer != text:
        wrong.append("the answer changed when slots went")
    return wrong


def check(options, model, limit, group):
    """One row of figures, and what is wrong."""
    begin = time.monotonic()
    server = Server(options, model, group)
    try:
        server.port = int(server.wait_for(r"ready: http://127\.0\.0\.1:(\d+)").group(1))
        start_seconds = time.monotonic() - begin
        answers = [json.loads(server.get("/v1/chat/completions", CHAT)) for _ in range(3)]
        server.wait_for("the expert cache is warm")
        answers.append(json.loads(server.get("/v1/chat/completions", CHAT)))
        for seed in range(options.requests):  # traffic that misses, so that the page cache fills the group
            server.get("/v1/completions", {"prompt": [seed + 300] * 8, "max_tokens": 64, "temperature": 1.5,
                                           "seed": seed, "ignore_eos": True})
        health = json.loads(server.get("/health"))
        reserve = server.metric("luce_memory_reserve_bytes")
        used = server.resident_bytes()
        texts = {each["choices"][0]["message"]["content"] for each in answers}
        wrong = crowd(server, group, limit, next(iter(texts))) if group.enforced else []
    finally:
        server.stop()
    share = used / (limit - reserve)
    tokens = sum(each["usage"]["completion_tokens"] for each in answers)
    if share < 0.95:
        wrong.append(f"only {share:.1%} of the limit minus the reserve is used")
    if used > limit or group.kills() > 0:
        wrong.append("it did not stay within")
    if tokens != 16 * len(answers) or len(texts) != 1:
        wrong.append("the answers are not what they should be")
    if "conditions" in health:
        wrong.append(f"it is not well: {health['conditions']}")
    print(f"{limit / MIB:6.0f} MiB, {group.kind}: reserve {reserve / MIB:.0f} MiB, used {used / MIB:.0f} MiB "
          f"({share:.1%}), peak of the group {group.peak() / MIB:.0f} MiB, ready after {start_seconds:.1f} s, "
          f"{answers[-1]['timings']['tokens_per_second']:.1f} tokens/s: {'; '.join(wrong) or 'good'}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder with luce-spark and make_synthetic")
    parser.add_argument("--limits", default="1024,2048,4096", help="of the groups, in MiB")
    parser.add_argument("--model-mb", type=float, default=6000, help="size of the model's experts, in MB")
    parser.add_argument("--requests", type=int, default=8, help="of 64 tokens, before a last look")
    parser.add_argument("--group", choices=["auto", "v1", "v2", "told"], default="auto")
    options = parser.parse_args()
    model = make_model(options)
    failed = False
    try:
        for limit in options.limits.split(","):
            group = make_group(options.group, int(limit) * MIB)
            try:
                failed |= bool(check(options, model, int(limit) * MIB, group))
            finally:
                group.close()
    finally:
        os.remove(model)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
