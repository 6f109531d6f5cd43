#!/usr/bin/env python3
"""Asks a running luce-spark server the main kinds of questions, and prints its hit ratio before and after.

usage: python warmup.py --endpoint http://localhost:8000 [--prompts FILE] [--api-key KEY]

Needs nothing but Python 3. `luce-spark warmup` does the same without Python.
"""
import argparse
import json
import re
import sys
import urllib.error
import urllib.request

SCENARIOS = [
    ("chat", "Hello! What can you help me with today?"),
    ("chat, German", "Was macht das Paket python3-numpy, und wann brauche ich es?"),
    ("chat, French", "Explique en quelques phrases ce que fait un gestionnaire de paquets."),
    ("question on a text", "Answer from this text only. Text: The library reads and writes PNG images; its development "
     "files are in a package of their own. Question: where are the development files?"),
    ("summary", "Summarise in one sentence: The server keeps the experts that the traffic uses in fast memory and reads "
     "the others from the model file when a token needs them."),
    ("writing", "Write a short, polite mail that moves a meeting from Monday to Tuesday."),
    ("code, Python", "Write a Python function that returns the n most frequent words of a text file."),
    ("code, C", "Write a C function that reverses a singly linked list, and explain each line."),
    ("code review", "What is wrong with this? for (size_t i = n - 1; i >= 0; --i) sum += values[i];"),
    ("translation", "Translate to Italian: The package contains shared libraries and documentation."),
    ("structured output", "Give name, version and license of a library you know as a JSON object."),
    ("reasoning", "A tank holds 240 litres and loses 3 litres an hour. When is it half empty? Think step by step."),
]


class Warmup:
    def __init__(self, options):
        self.options = options
        self.chat = True

    def call(self, path, body=None):
        """Status and text of one request."""
        headers = {"Content-Type": "application/json"}
        if self.options.api_key:
            headers["Authorization"] = "Bearer " + self.options.api_key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.options.endpoint.rstrip("/") + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def window_ratio(self):
        """The server's own figure, over its stats window."""
        status, text = self.call("/metrics")
        found = re.search(r"^luce_gpu_cache_hit_ratio\S* (\S+)$", text, re.M) if status == 200 else None
        if not found:
            return "unknown, the server offers no metrics of an expert cache"
        return f"{100 * float(found.group(1)):.1f} %"

    def ask(self, name, body, round_):
        body = {"max_tokens": self.options.max_tokens, "temperature": 0, **body, "stream": False}
        status, text = self.call("/v1/chat/completions", body) if self.chat else (400, "")
        if status == 400 and "messages" in body:
            # A model without a chat template answers completions only.
            self.chat = False
            body["prompt"] = body.pop("messages")[-1].get("content", "")
            status, text = self.call("/v1/completions", body)
        if status != 200:
            sys.exit(f"warmup.py: {self.options.endpoint} answered {status} to {name}: {text[:300]}")
        experts = json.loads(text).get("timings", {}).get("experts", {})
        hits, misses = experts.get("hits", 0), experts.get("misses", 0)
        print(f"  round {round_ + 1}, {name}: {percent(hits, hits + misses)} hits", flush=True)
        return hits, hits + misses

    def run(self, prompts):
        print("hit ratio before:", self.window_ratio())
        first = last = (0, 0)
        for round_ in range(self.options.rounds):
            found = [self.ask(name, body, round_) for name, body in prompts]
            last = tuple(sum(column) for column in zip(*found))
            first = last if round_ == 0 else first
        print(f"hit ratio after: {self.window_ratio()}; these {len(prompts)} prompts: {percent(*first)} the first time, "
              f"{percent(*last)} the last")


def percent(hits, accesses):
    return f"{100 * hits / accesses:.1f} %" if accesses else "none counted"


def user_message(text):
    return {"messages": [{"role": "user", "content": text}]}


def read_prompts(path):
    with open(path, encoding="utf-8") as file:
        lines = [(number, line.strip()) for number, line in enumerate(file, 1)]
    prompts = [(f"line {number}", json.loads(line) if line.startswith("{") else user_message(line))
               for number, line in lines if line]
    if not prompts:
        sys.exit(f"warmup.py: {path} has no prompts in it; one is expected on each line")
    return prompts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", default="http://localhost:8000", help="address of the server")
    parser.add_argument("--prompts", metavar="FILE", help="one prompt a line, as text or as JSON body of a chat request")
    parser.add_argument("--api-key", default="", help="key of the server, if it has one")
    parser.add_argument("--max-tokens", type=int, default=64, help="longest answer")
    parser.add_argument("--rounds", type=int, default=2, help="times that all prompts are asked")
    options = parser.parse_args()
    try:
        prompts = read_prompts(options.prompts) if options.prompts else [(n, user_message(t)) for n, t in SCENARIOS]
        Warmup(options).run(prompts)
    except (OSError, ValueError) as error:
        sys.exit(f"warmup.py: {options.endpoint}: {error}; is luce-spark serve running there?")


if __name__ == "__main__":
    main()
