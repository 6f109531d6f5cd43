#!/usr/bin/env python3
"""All measurements of docs/cache_measurements.md, one after the other, with the built program and the demo model.

usage: python3 tools/measure_cache.py
"""
import measure_serving
import measure_tags
import measure_warm_start

if __name__ == "__main__":
    print("# Hits over the first tokens after a restart, with a profile and without\n", flush=True)
    for tokens in ("9", "32"):
        print(f"first {tokens} tokens:")
        measure_warm_start.main(["--tokens", tokens])
    print("\n# Hits over the first 32 tokens of requests that alternate, with tags and without\n", flush=True)
    measure_tags.main([])
    print("\n# Latency and concurrent sequences\n", flush=True)
    measure_serving.main([])
