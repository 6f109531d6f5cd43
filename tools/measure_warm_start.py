#!/usr/bin/env python3
"""Expert hits over the first 32 decoded tokens after a restart, with and without a router profile.

Trains a profile on the first half of the prompts, then restarts the server before each prompt of the second half, once
with a copy of that profile and once without, and counts decode hits from /metrics. Prompts are token ids of the
validation texts. Standard library only.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, options, share, profile):
        self.port = free_port()
        command = [options.binary, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--metrics-port", "0",
                   "--model", options.model, "--expert-share", share, "--parallel", "1", "--log-level", "warning"]
        if profile:
            command += ["--router-profile-path", profile]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.wait(lambda: json.loads(self.get("/health"))["status"] == "ok")
        # Warming runs beside the first requests; here it is given its time, in both kinds of run.
        self.wait(lambda: self.resident() == self.resident(after=0.05))

    def wait(self, ready):
        for _ in range(600):
            try:
                if ready():
                    return
            except (OSError, KeyError):
                pass
            time.sleep(0.05)
        raise RuntimeError("the server does not get ready")

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.read().decode()

    def resident(self, after=0.0):
        time.sleep(after)
        return re.search(r"^luce_gpu_cache_expert_count\S* (\S+)", self.get("/metrics"), re.M).group(1)

    def decode_counts(self):
        text = self.get("/metrics")
        return [float(re.search(rf'^luce_expert_{kind}_total{{.*phase="decode".*}} (\S+)', text, re.M).group(1))
                for kind in ("hits", "misses")]

    def generate(self, prompt, tokens):
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/completions", body,
                                         {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=120).read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def prompts_of(folder, domain, count, length):
    with open(os.path.join(folder, f"validation-{domain}.txt"), encoding="ascii") as file:
        ids = [int(word) for word in file.read().split()]
    step = len(ids) // count
    return [ids[start:start + length] for start in range(0, step * count, step)]


def first_tokens(options, share, profile, prompt):
    server = Server(options, share, profile)
    server.generate(prompt, options.tokens)
    hits, misses = server.decode_counts()
    server.stop()
    return hits, hits + misses


def measure(options, name, domains, share):
    train, test = [], []
    for domain in domains:
        prompts = prompts_of(options.validation, domain, 2 * options.prompts // len(domains), options.prompt_tokens)
        half = len(prompts) // 2
        train += prompts[:half]
        test += prompts[half:]
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "router_state.json")
        server = Server(options, share, profile)
        for prompt in train:
            server.generate(prompt, 128)
        server.stop()
        totals = {True: [0, 0], False: [0, 0]}
        for prompt in test:
            for warm in (True, False):
                copy = shutil.copy(profile, os.path.join(folder, "copy.json")) if warm else None
                for at, value in enumerate(first_tokens(options, share, copy, prompt)):
                    totals[warm][at] += value
    warm, cold = (totals[kind][0] / totals[kind][1] * 100 for kind in (True, False))
    print(f"{name:<7} {share:>5} resident: {warm:5.1f} % hits with the profile, {cold:5.1f} % without "
          f"({len(test)} restarts each, {totals[True][1]:.0f} accesses)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/luce-spark")
    parser.add_argument("--model", default="models/demo-q4_k_m.gguf")
    parser.add_argument("--validation", default="tests/golden/demo", help="folder of validation-DOMAIN.txt")
    parser.add_argument("--shares", default="25%,50%")
    parser.add_argument("--prompts", type=int, default=12, help="to train on, and as many to test on")
    parser.add_argument("--prompt-tokens", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args()
    for share in options.shares.split(","):
        measure(options, "German", ["de"], share)
        measure(options, "mixed", ["de", "en", "fr", "it", "C", "Python"], share)


if __name__ == "__main__":
    main()
