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
import multiprocessing
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

from careless_client import Client, Tally, request_bytes


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
