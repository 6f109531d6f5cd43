"""Asks a luce-spark server as the simplest scripts do: one post with a JSON payload and a timeout."""

import json
import sys

PAYLOAD = {
    "model": "demo",
    "messages": [{"role": "user", "content": "Was ist python3-numpy?", "session_id": "abc"}],
    "metadata": {"session_id": "abc", "task_tag": "rag_qa"},
    "max_tokens": 8,
}


def post(url, payload, timeout):
    """requests.post(url, json=payload, timeout=timeout).json(), with the standard library where requests is missing."""
    try:
        import requests
    except ImportError:
        import urllib.request

        request = urllib.request.Request(
            url, json.dumps(payload).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)
    answer = requests.post(url, json=payload, timeout=timeout)
    answer.raise_for_status()
    return answer.json()


if __name__ == "__main__":
    print(json.dumps(post(sys.argv[1] + "/chat/completions", PAYLOAD, timeout=60)))
