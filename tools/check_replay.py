#!/usr/bin/env python3
"""Replays every row of tests/golden/traces/golden.csv with the built program: counts must be equal, each within 2 s.

usage: python3 tools/check_replay.py [--binary build/release/luce-spark]
"""
import argparse
import csv
import json
import subprocess
import sys
import time

NAMES = [("decay-bypass h=", "decay-gated:"), ("decay h=", "decay:"), ("ClassLRU h=", "class-lru:"),
         ("crf/age h=", "age-crf:"), ("LRU", "lru"), ("OPT", "opt")]


def policy_name(golden):
    for prefix, name in NAMES:
        if golden.startswith(prefix):
            return name + golden[len(prefix):]
    raise ValueError(f"golden.csv names an unknown policy: {golden}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/luce-spark")
    parser.add_argument("--traces", default="tests/golden/traces")
    options = parser.parse_args()
    wrong, slowest, rows = 0, 0.0, 0
    with open(f"{options.traces}/golden.csv", encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            begin = time.perf_counter()
            done = subprocess.run([options.binary, "replay", f"{options.traces}/{row['trace']}.lrt", "--json", "--policy",
                                   policy_name(row["policy"]), "--slots", row["slots_per_layer"]],
                                  stdout=subprocess.PIPE, check=True)
            seconds = time.perf_counter() - begin
            found = json.loads(done.stdout)
            equal = all(found[key] == int(row[key]) for key in ("accesses", "hits", "uploads"))
            if not equal or seconds > 2:
                print(f"{row['trace']} {row['policy']} {row['slots_per_layer']}: {found} in {seconds:.2f} s", flush=True)
            wrong += not equal or seconds > 2
            slowest = max(slowest, seconds)
            rows += 1
    print(f"{rows - wrong} of {rows} rows are exact and within 2 s; the slowest took {slowest:.2f} s")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
