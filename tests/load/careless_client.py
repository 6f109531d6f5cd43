"""A client of the load program that asks as careless programs do, and judges what comes back."""

import asyncio
import collections
import json
import random
import time

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
