#!/usr/bin/env python3
"""Per-token latency while the cache is cold and when it is warm, and what 1, 2, 4 and 8 concurrent sequences do to
experts, hits and speed.

Requests are streamed; a latency is the time between two tokens of one stream as their client sees it, the first token
left out; tokens that arrive together share the time since those before. Sequences of one measurement start together,
so that a step decodes a token of each: distinct experts are counted per layer and step. Prompts are token ids of the
validation texts. Standard library only.
"""
import json
import selectors
import socket
import time

from measured_server import DOMAINS, Server, options_parser, prompts_of


class Stream:
    """One streamed completion, read as its bytes come."""

    def __init__(self, port, prompt, tokens):
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "stream": True})
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall((f"POST /v1/completions HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                             f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
        self.socket.setblocking(False)
        self.times = []  # of each event

    def read(self):
        """False at the end."""
        data = self.socket.recv(1 << 16)
        now = time.perf_counter()
        count = data.count(b'"text":"')
        last = self.times[-1] if self.times else now
        self.times += [last + (now - last) * (i + 1) / count for i in range(count)]
        return bool(data)

    def gaps_ms(self):
        return [1e3 * (after - before) for before, after in zip(self.times[1:], self.times[2:])]


def run_together(port, prompts, tokens):
    """Streams all prompts at the same time; latencies in ms and tokens per second of all together."""
    begin = time.perf_counter()
    selector = selectors.DefaultSelector()
    streams = [Stream(port, prompt, tokens) for prompt in prompts]
    for stream in streams:
        selector.register(stream.socket, selectors.EVENT_READ, stream)
    while selector.get_map():
        for key, _ in selector.select():
            if not key.data.read():
                selector.unregister(key.fileobj)
                key.fileobj.close()
    seconds = time.perf_counter() - begin
    return [gap for stream in streams for gap in stream.gaps_ms()], len(prompts) * tokens / seconds


def percentiles(values):
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 0.99)]


def mixed_prompts(options, count):
    columns = [prompts_of(options, domain, -(-count // len(DOMAINS)), options.prompt_tokens) for domain in DOMAINS]
    return [prompt for row in zip(*columns) for prompt in row][:count]


def cold_and_warm(options, share):
    server = Server(options, ["--expert-share", share, "--parallel", "1"])
    phases = {"cold": 2000, "between": options.warm_after - 2000, "warm": 2000}
    prompts = iter(mixed_prompts(options, sum(phases.values()) // options.tokens + 3))
    for phase, tokens in phases.items():
        gaps = []
        before = server.decode_counts()
        for _ in range(tokens // options.tokens):
            gaps += run_together(server.port, [next(prompts)], options.tokens)[0]
        hits, misses = (b - a for a, b in zip(before, server.decode_counts()))
        if phase != "between":
            p50, p95, p99 = percentiles(gaps)
            print(f"| {share} | {phase} | {100 * hits / (hits + misses):.1f} % | {p50:.2f} | {p95:.2f} | {p99:.2f} |",
                  flush=True)
    server.stop()


def concurrency(options, share):
    for sequences in (1, 2, 4, 8):
        server = Server(options, ["--expert-share", share, "--parallel", "8"])
        prompts = mixed_prompts(options, sequences * (options.repeat + 1))
        run_together(server.port, prompts[:sequences], options.tokens)  # fills caches
        before = server.decode_counts()
        gaps, speeds = [], []
        for repeat in range(1, options.repeat + 1):
            found, speed = run_together(server.port, prompts[repeat * sequences:(repeat + 1) * sequences], options.tokens)
            gaps += found
            speeds.append(speed)
        hits, misses = (b - a for a, b in zip(before, server.decode_counts()))
        steps = options.repeat * (options.tokens - 1)
        p50, p95, p99 = percentiles(gaps)
        print(f"| {share} | {sequences} | {(hits + misses) / options.layers / steps:.1f} | {100 * hits / (hits + misses):.1f} % | "
              f"{sorted(speeds)[len(speeds) // 2]:.0f} | {p50:.2f} | {p95:.2f} | {p99:.2f} |", flush=True)
        server.stop()


def main(arguments=None):
    parser = options_parser(__doc__)
    parser.add_argument("--prompt-tokens", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=200, help="of each request")
    parser.add_argument("--warm-after", type=int, default=10000, help="tokens, 2,000 of them cold")
    parser.add_argument("--repeat", type=int, default=5, help="groups of concurrent requests; the median speed is shown")
    parser.add_argument("--layers", type=int, default=6, help="of the model that have experts")
    options = parser.parse_args(arguments)
    print("| resident | cache | hits | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|---|---|")
    for share in ("25%", "50%"):
        cold_and_warm(options, share)
    print("\n| resident | sequences | distinct experts a layer and step | hits | tokens/s | p50 ms | p95 ms | p99 ms |\n"
          "|---|---|---|---|---|---|---|---|")
    for share in ("100%", "50%", "25%"):
        concurrency(options, share)


if __name__ == "__main__":
    main()
