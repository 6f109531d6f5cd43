#!/usr/bin/env python3
"""Loads a luce-spark server as careless clients do and judges what came of it.

usage: load.py PROGRAM [--seconds 180] [--clients 64] [--seed 1] [--metrics-limit-ms 100] [--growth-limit 0.02]

Every client asks again and again: chats and completions, whole and streamed; some leave in the middle, some read
slowly, some send what is too large or broken. Every answer that is not left must have exactly one end. Exits 0 when
all limits hold; the last lines are the figures.
"""

import argparse
import asyncio
import collections
import json
import multiprocessing
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

WORDS = "the cache keeps experts near and reads others from the file when a token needs them again".split()
MIB = 1 << 20


class Tally:
    """What all clients saw."""

    def __init__(self):
        self.kinds = collections.Counter()
        self.statuses = collections.Counter()
        self.faults = []
        self.sent_whole = 0  # requests for generation of which the server got every byte
        self.seconds = []

    def fault(self, text):
        if len(self.faults) < 50:
            self.faults.append(text)


class Answer:
    def __init__(self, status, headers, body, complete):
        self.status, self.headers, self.body, self.complete = status, headers, body, complete


def request_bytes(path, body, close=True):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(text)}\r\n{'Connection: close' if close else ''}\r\n\r\n"
    ).replace("\r\n\r\n\r\n", "\r\n\r\n")
    return head.encode() + text


async def read_answer(reader, pace=None):
    """One response to its end as its framing says; `pace` is (bytes, seconds) for a slow reader."""
    data = b""

    async def more():
        nonlocal data
        if pace:
            await asyncio.sleep(pace[1])
        part = await reader.read(pace[0] if pace else 65536)
        data += part
        return bool(part)

    while b"\r\n\r\n" not in data:
        if not await more():
            return Answer(0, {}, data, False)
    head, data = data.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split()[1])
    headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
    if "content-length" in headers:
        while len(data) < int(headers["content-length"]):
            if not await more():
                return Answer(status, headers, data, False)
        return Answer(status, headers, data, True)
    body = b""
    while True:
        while b"\r\n" not in data:
            if not await more():
                return Answer(status, headers, body, False)
        size_text, rest = data.split(b"\r\n", 1)
        size = int(size_text, 16)
        while len(rest) < size + 2:
            before = len(data)
            if not await more():
                return Answer(status, headers, body, False)
            rest += data[before:]
        body += rest[:size]
        data = rest[size + 2 :]
        if size == 0:
            return Answer(status, headers, body, True)


class Client:
    def __init__(self, port, seed, tally, deadline):
        self.port, self.tally, self.deadline = port, tally, deadline
        self.random = random.Random(seed)
        self.messages = []
        self.session = f"s{seed}"
        self.overloaded = False

    def prompt(self, words):
        return " ".join(self.random.choice(WORDS) for _ in range(words))

    def chat(self, stream, max_tokens):
        if len(self.messages) > 6 or self.random.random() < 0.3:
            self.messages = []
        self.messages.append({"role": "user", "content": self.prompt(self.random.randint(1, 40))})
        body = {
            "messages": self.messages,
            "max_tokens": max_tokens,
            "stream": stream,
            "temperature": self.random.choice([0, 0.7, 1.0]),
            "metadata": {"session_id": self.session, "task_tag": self.random.choice(["a", "b"])},
        }
        if self.random.random() < 0.2:
            body["n"] = self.random.randint(2, 3)
        if self.random.random() < 0.2:
            body["logprobs"] = True
        if self.random.random() < 0.2:
            body["response_format"] = {"type": "json_object"}
        if self.random.random() < 0.2:
            body["stop"] = ["the", "\n\n"]
        if stream and self.random.random() < 0.5:
            body["stream_options"] = {"include_usage": True}
        return body

    async def run(self):
        kinds = [
            (self.whole, 30), (self.stream, 20), (self.completion, 10), (self.leave_stream, 14), (self.leave_whole, 8),
            (self.slow_reader, 6), (self.oversized, 4), (self.broken, 4), (self.too_long, 4),
        ]  # fmt: skip
        while time.monotonic() < self.deadline:
            (kind,) = self.random.choices([k for k, _ in kinds], [w for _, w in kinds])
            self.tally.kinds[kind.__name__] += 1
            begin = time.monotonic()
            try:
                await asyncio.wait_for(kind(), 120)
            except asyncio.TimeoutError:
                self.tally.fault(f"{kind.__name__}: no end within 120 s")
            except OSError as error:
                self.tally.fault(f"{kind.__name__}: {error!r}")
            self.tally.seconds.append(time.monotonic() - begin)
            await asyncio.sleep(self.random.random() * (0.5 if self.overloaded else 0.05))
            self.overloaded = False

    async def connect(self, limit=1 << 20):
        return await asyncio.open_connection("127.0.0.1", self.port, limit=limit)

    async def ask(self, path, body, pace=None, limit=1 << 20):
        reader, writer = await self.connect(limit)
        try:
            writer.write(request_bytes(path, body))
            await writer.drain()
            self.tally.sent_whole += 1
            return await read_answer(reader, pace)
        finally:
            writer.close()

    def judge(self, kind, answer, expected, stream=False, choices=1):
        self.tally.statuses[answer.status] += 1
        if not answer.complete:
            return self.tally.fault(f"{kind}: status {answer.status}, {len(answer.body)} bytes, no proper end")
        if answer.status == 503:
            if int(answer.headers.get("retry-after", 0)) < 1:
                self.tally.fault(f"{kind}: 503 without Retry-After")
            self.overloaded = True
            return None
        if answer.status != expected:
            return self.tally.fault(f"{kind}: {answer.status} instead of {expected}: {answer.body[:200]}")
        if answer.status != 200:
            if "message" not in json.loads(answer.body)["error"]:
                self.tally.fault(f"{kind}: {answer.status} without a message")
        elif stream:
            self.judge_stream(kind, answer.body.decode(), choices)
        else:
            ends = [c["finish_reason"] for c in json.loads(answer.body)["choices"]]
            if len(ends) != choices or not all(ends):
                self.tally.fault(f"{kind}: finish reasons {ends} for {choices} choices")
        return None

    def judge_stream(self, kind, text, choices):
        frames = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
        if frames.count("[DONE]") != 1 or frames[-1] != "[DONE]":
            return self.tally.fault(f"{kind}: {frames.count('[DONE]')} [DONE] in a stream")
        ends = collections.Counter()
        for frame in frames[:-1]:
            for choice in json.loads(frame).get("choices", []):
                if choice["finish_reason"]:
                    ends[choice["index"]] += 1
        if sorted(ends.items()) != [(i, 1) for i in range(choices)]:
            self.tally.fault(f"{kind}: ends {dict(ends)} for {choices} choices")
        return None

    async def whole(self):
        body = self.chat(False, self.random.randint(1, 60))
        answer = await self.ask("/v1/chat/completions", body)
        self.judge("whole", answer, 200, choices=body.get("n", 1))
        if answer.status == 200:
            self.messages.append({"role": "assistant", "content": "Fine."})

    async def stream(self):
        body = self.chat(True, self.random.randint(1, 60))
        self.judge("stream", await self.ask("/v1/chat/completions", body), 200, True, body.get("n", 1))

    async def completion(self):
        body = {"prompt": self.prompt(20), "max_tokens": self.random.randint(0, 30), "stream": self.random.random() < 0.5}
        self.judge("completion", await self.ask("/v1/completions", body), 200, body["stream"])

    async def slow_reader(self):
        body = dict(self.chat(True, 200), ignore_eos=True, logprobs=True, top_logprobs=5)
        body.pop("response_format", None)
        body.pop("stop", None)
        answer = await self.ask("/v1/chat/completions", body, (2048, 0.02), 4096)
        self.judge("slow_reader", answer, 200, True, body.get("n", 1))

    async def leave(self, stream):
        reader, writer = await self.connect()
        try:
            writer.write(request_bytes("/v1/chat/completions", dict(self.chat(stream, 300), ignore_eos=True)))
            await writer.drain()
            self.tally.sent_whole += 1
            try:
                await asyncio.wait_for(reader.read(self.random.randint(1, 4000)), self.random.random() * 0.5)
            except asyncio.TimeoutError:
                pass
        finally:
            if self.random.random() < 0.5:
                writer.transport.abort()
            else:
                writer.close()

    async def leave_stream(self):
        await self.leave(True)

    async def leave_whole(self):
        await self.leave(False)

    async def oversized(self):
        reader, writer = await self.connect()
        size = self.random.choice([17 * MIB, 400 * MIB, 1 << 40])
        try:
            writer.write(
                f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {size}\r\nConnection: close\r\n\r\n".encode()
            )
            writer.write(b'{"messages": "' + b"x" * self.random.randint(0, 2 * MIB))
            self.judge("oversized", await read_answer(reader), 413)
        except ConnectionResetError:
            self.tally.statuses["reset after 413"] += 1
        finally:
            writer.transport.abort()

    async def broken(self):
        body = self.random.choice([b"{", b"[]", b'{"messages": 7}', b'{"messages": [{"role": "user"', b"\xff\xfe", b"null"])
        self.judge("broken", await self.ask("/v1/chat/completions", body), 400)

    async def too_long(self):
        body = {"messages": [{"role": "user", "content": self.prompt(5000)}]}
        self.judge("too_long", await self.ask("/v1/chat/completions", body), 400)


def probe(port, seconds, out):
    """Asks for the metrics in a process of its own, so that the clients' work is not part of the time."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
                answer.read()
            times.append((time.monotonic() - begin) * 1e3)
        except OSError as error:
            times.append(float("inf"))
            print(f"probe: {error!r}", file=sys.stderr)
        time.sleep(0.1)
    out.put(times)


def resident_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        return answer.read().decode()


def metric_sum(text, pattern):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.split("\n") if re.match(pattern, line))


async def load(options, port, pid, tally):
    deadline = time.monotonic() + options.seconds
    memory = []

    async def watch():
        while time.monotonic() < deadline:
            memory.append(resident_mib(pid))
            await asyncio.sleep(min(1.0, options.seconds / 60))

    clients = [Client(port, options.seed * 1000 + i, tally, deadline).run() for i in range(options.clients)]
    await asyncio.gather(watch(), *clients)
    return memory


def start(program):
    command = [program, "serve", "--port", "0", "--metrics-port", "0", "--log-level", "info", "--log-interval", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if ready := re.search(r"ready: http://127\.0\.0\.1:(\d+)", line):
            return server, int(ready.group(1))
    sys.exit("the server did not start")


def stop_under_load(server, port):
    """Seconds from SIGTERM to the end, with clients still at work, and the exit code."""
    ask = request_bytes("/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}], "ignore_eos": True,
                                                 "stream": True, "max_tokens": 900})  # fmt: skip

    async def hold():
        pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(16)]
        for _, writer in pairs:
            writer.write(ask)
        await asyncio.sleep(0.3)
        begin = time.monotonic()
        server.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(server.wait, 30)
        return time.monotonic() - begin, code

    return asyncio.run(hold())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--metrics-limit-ms", type=float, default=100)
    parser.add_argument("--growth-limit", type=float, default=0.02)
    options = parser.parse_args()

    server, port = start(options.program)
    log_ends, odd_lines = collections.Counter(), []
    times_queue = multiprocessing.Queue()
    prober = multiprocessing.Process(target=probe, args=(port, options.seconds, times_queue))
    prober.start()
    tally = Tally()

    def read_log():
        for line in server.stderr:
            if re.search(r" (warning|error) |outcome=failed", line) and len(odd_lines) < 20:
                odd_lines.append(line.strip())
            if outcome := re.search(r"request method=POST route=\S+ status=(\d+) outcome=(\S+)", line):
                log_ends[outcome.group(2)] += 1

    log_thread = threading.Thread(target=read_log, daemon=True)
    log_thread.start()
    memory = asyncio.run(load(options, port, server.pid, tally))
    times = times_queue.get(timeout=60)
    prober.join()

    idle_by = time.monotonic() + 10
    while True:
        text = metrics(port)
        running = metric_sum(text, r"luce_requests_running ") + metric_sum(text, r"luce_queue_length ")
        if running == 0 or time.monotonic() > idle_by:
            break
        time.sleep(0.1)
    counted = metric_sum(text, r'luce_http_requests_total\{outcome="[a-z]+",route="/v1/')
    left = tally.kinds["leave_stream"] + tally.kinds["leave_whole"]
    if running:
        tally.fault(f"{running} requests still run 10 s after the last client")

    stop_seconds, code = stop_under_load(server, port)
    log_thread.join(5)

    half = memory[len(memory) // 2 :]
    part = max(1, len(half) // 5)
    growth = statistics.median(half[-part:]) / statistics.median(half[:part]) - 1
    times.sort()
    slowest, usual = times[-1], statistics.median(times)
    tail = times[int(len(times) * 0.99)]
    limits = {
        "every request one end": not tally.faults,
        # A client that resets its connection at once may take its request back before the server has read it.
        "all requests counted once": tally.sent_whole - left <= counted <= tally.sent_whole,
        f"memory growth below {options.growth_limit:.0%}": growth < options.growth_limit,
        f"/metrics within {options.metrics_limit_ms:g} ms": slowest < options.metrics_limit_ms,
        "SIGTERM: exit 0 within 5 s": code == 0 and stop_seconds < 5,
    }
    for line in odd_lines:
        print("log:", line)
    for fault in tally.faults:
        print("fault:", fault)
    print(f"clients {options.clients}, seconds {options.seconds:g}, requests {sum(tally.kinds.values())}: {dict(tally.kinds)}")
    print(f"answers by status {dict(tally.statuses)}")
    print(f"ends in the log {dict(log_ends)}, of requests sent whole {tally.sent_whole}, counted {counted:g}")
    print(f"request seconds: median {statistics.median(tally.seconds):.3f}, most {max(tally.seconds):.3f}")
    print(f"resident MiB: first {memory[0]:.1f}, half {half[0]:.1f}, last {memory[-1]:.1f}, growth {growth:.2%}")
    print(f"/metrics ms: median {usual:.1f}, 99 % {tail:.1f}, most {slowest:.1f}, asked {len(times)} times")
    print(f"stop: {stop_seconds:.2f} s, exit code {code}")
    for limit, held in limits.items():
        print("held" if held else "MISSED", limit)
    return 0 if all(limits.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
