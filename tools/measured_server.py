"""A luce-spark server that measurements start, ask and read metrics from. Standard library only."""
import argparse
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request

DOMAINS = ["de", "en", "fr", "it", "C", "Python"]


def options_parser(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/luce-spark")
    parser.add_argument("--model", default="models/demo-q4_k_m.gguf")
    parser.add_argument("--validation", default="tests/golden/demo", help="folder of validation-DOMAIN.txt")
    return parser


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Serves the model of `options`; `flags` are further ones of `serve`."""

    def __init__(self, options, flags):
        self.port = free_port()
        self.process = subprocess.Popen(
            [options.binary, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--metrics-port", "0", "--model",
             options.model, "--log-level", "warning"] + flags, stderr=subprocess.DEVNULL)
        self.wait(lambda: json.loads(self.get("/health"))["status"] == "ok")
        # Warming runs beside the first requests; here it is given its time, in every kind of run.
        self.wait(lambda: self.resident() == self.resident(after=0.05))

    def wait(self, ready):
        for _ in range(1200):
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

    def metric(self, name, labels=""):
        """The value of one series; `labels` is a part of what stands in its braces."""
        pattern = rf"^{name}(?:{{[^}}]*{labels}[^}}]*}})? (\S+)$" if labels else rf"^{name}(?:{{[^}}]*}})? (\S+)$"
        return float(re.search(pattern, self.get("/metrics"), re.M).group(1))

    def resident(self, after=0.0):
        time.sleep(after)
        return self.metric("luce_gpu_cache_expert_count")

    def decode_counts(self):
        return [self.metric(f"luce_expert_{kind}_total", 'phase="decode"') for kind in ("hits", "misses")]

    def post(self, prompt, tokens, **more):
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, **more})
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/completions", body.encode(),
                                         {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=600)

    def generate(self, prompt, tokens, **more):
        with self.post(prompt, tokens, **more) as answer:
            return json.loads(answer.read())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def prompts_of(options, domain, count, length):
    """`count` prompts of `length` token ids, evenly spread over the validation text of the domain."""
    with open(os.path.join(options.validation, f"validation-{domain}.txt"), encoding="ascii") as file:
        ids = [int(word) for word in file.read().split()]
    step = len(ids) // count
    return [ids[start:start + length] for start in range(0, step * count, step)]
