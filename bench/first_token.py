#!/usr/bin/env python3
"""Seconds from the start of the program to the first byte of its answer, and to its end.

    bench/first_token.py [--program build/release/luce-spark] [--model FILE] [--repeat 5]

Without --model the demo model answers. Prints the median and the extremes; the file is warm in the page cache after
the first run, which is shown apart."""
import argparse
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def one_run(command):
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first_byte = process.stdout.read(1)
        first = time.monotonic() - begin
        _, errors = process.communicate()
    if process.returncode != 0 or not first_byte:
        raise SystemExit(f"first_token.py: exit {process.returncode}: {errors.decode(errors='replace')}")
    return first, time.monotonic() - begin


def line(name, seconds):
    return f"{name:<12} median {statistics.median(seconds):.3f} s, {min(seconds):.3f} to {max(seconds):.3f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/luce-spark"))
    parser.add_argument("--model")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    command = [arguments.program, "run", "-p", "What is libpng-dev?", "--max-tokens", "16", "--temperature", "0"]
    command += ["--model", arguments.model] if arguments.model else []
    first_run = one_run(command)
    runs = [one_run(command) for _ in range(arguments.repeat)]
    print(f"{'first run':<12} first byte {first_run[0]:.3f} s, end {first_run[1]:.3f} s")
    print(line("first byte", [first for first, _ in runs]))
    print(line("end", [end for _, end in runs]))


if __name__ == "__main__":
    main()
