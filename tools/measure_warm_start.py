#!/usr/bin/env python3
"""Expert hits over the first 32 decoded tokens after a restart, with and without a router profile.

Trains a profile on the first half of the prompts, then restarts the server before each prompt of the second half, once
with a copy of that profile and once without, and counts decode hits from /metrics. Prompts are token ids of the
validation texts. Standard library only.
"""
import os
import shutil
import tempfile

from measured_server import DOMAINS, Server, options_parser, prompts_of


def start(options, share, profile):
    more = ["--router-profile-path", profile] if profile else []
    return Server(options, ["--expert-share", share, "--parallel", "1"] + more)


def first_tokens(options, share, profile, prompt):
    server = start(options, share, profile)
    server.generate(prompt, options.tokens)
    hits, misses = server.decode_counts()
    server.stop()
    return hits, hits + misses


def measure(options, name, domains, share):
    train, test = [], []
    for domain in domains:
        prompts = prompts_of(options, domain, 2 * options.prompts // len(domains), options.prompt_tokens)
        half = len(prompts) // 2
        train += prompts[:half]
        test += prompts[half:]
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "router_state.json")
        server = start(options, share, profile)
        for prompt in train:
            server.generate(prompt, 128)
        server.stop()
        totals = {True: [0, 0], False: [0, 0]}
        for prompt in test:
            for warm in (True, False):
                copy = shutil.copy(profile, os.path.join(folder, "copy.json")) if warm else None
                for at, value in enumerate(first_tokens(options, share, copy, prompt)):
                    totals[warm][at] += value
    warm, cold = (totals[kind][0] / totals[kind][1] * 100 for kind in (True, False))
    print(f"{name:<7} {share:>5} resident: {warm:5.1f} % hits with the profile, {cold:5.1f} % without "
          f"({len(test)} restarts each, {totals[True][1]:.0f} accesses)", flush=True)


def main(arguments=None):
    parser = options_parser(__doc__)
    parser.add_argument("--shares", default="25%,50%")
    parser.add_argument("--prompts", type=int, default=12, help="to train on, and as many to test on")
    parser.add_argument("--prompt-tokens", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args(arguments)
    for share in options.shares.split(","):
        measure(options, "German", ["de"], share)
        measure(options, "mixed", DOMAINS, share)


if __name__ == "__main__":
    main()
