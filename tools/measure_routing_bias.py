#!/usr/bin/env python3
"""What the hot bias does to the demo model: loss, hits and substituted experts, one token a step.

Runs `luce-spark logits --decode` on the first tokens of each validation text for every bias, with the guards and, for
comparison, without them, and compares the loss of each token with that of bias 0. The interval is 1.96 standard errors
of the paired differences. Standard library only.

    python3 tools/measure_routing_bias.py

Ends with 1 if, with the guards, the interval at the largest bias reaches above 0.012 nats or a bias above 0 substitutes
nothing.
"""
import argparse
import array
import math
import os
import re
import subprocess
import sys
import tempfile

BIASES = [0, 0.02, 0.05, 0.1, 0.15]
MOST_RISE_NATS = 0.012


def losses(path, ids, vocabulary):
    result = []
    with open(path, "rb") as file:
        for target in ids[1:]:
            row = array.array("f")
            row.fromfile(file, vocabulary)
            top = max(row)
            result.append(top + math.log(math.fsum(math.exp(value - top) for value in row)) - row[target])
    return result


def run(options, ids, bias, guards, folder):
    tokens, output = os.path.join(folder, "ids.txt"), os.path.join(folder, "out.f32")
    with open(tokens, "w", encoding="ascii") as file:
        file.write(" ".join(map(str, ids)))
    done = subprocess.run([options.binary, "logits", options.model, "--tokens", tokens, "--output", output, "--decode",
                           "--expert-share", options.share, "--hot-bias", str(bias), "--warmup-tokens", "0"] + ([] if guards else ["--unguarded-bias"]),
                          stderr=subprocess.PIPE, text=True, check=True)
    found = re.search(r"experts: (\d+) hits, (\d+) misses, (\d+) substituted", done.stderr)
    vocabulary = os.path.getsize(output) // 4 // len(ids)
    return losses(output, ids, vocabulary), [int(count) for count in found.groups()]


def measure(options, texts, bias, guards):
    """The loss of each token, and hits, misses and substituted experts."""
    loss, counts = [], [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for ids in texts:
            found, numbers = run(options, ids, bias, guards, folder)
            loss += found
            counts = [a + b for a, b in zip(counts, numbers)]
    return loss, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/luce-spark")
    parser.add_argument("--model", default="models/demo-q4_k_m.gguf")
    parser.add_argument("--validation", default="tests/golden/demo", help="folder of validation-DOMAIN.txt")
    parser.add_argument("--share", default="25%")
    parser.add_argument("--tokens", type=int, default=768, help="of each text")
    options = parser.parse_args()
    texts = []
    for domain in ["en", "de", "fr", "it", "ja", "C", "Python"]:
        with open(os.path.join(options.validation, f"validation-{domain}.txt"), encoding="ascii") as file:
            texts.append([int(word) for word in file.read().split()][:options.tokens])
    exact = None
    good = True
    for bias, guards in [(each, True) for each in BIASES] + [(each, False) for each in BIASES[1:]]:
        loss, counts = measure(options, texts, bias, guards)
        exact = exact or loss
        rise = [a - b for a, b in zip(loss, exact)]
        mean = sum(rise) / len(rise)
        error = 1.96 * math.sqrt(sum((value - mean) ** 2 for value in rise) / (len(rise) - 1) / len(rise))
        nats = sum(loss) / len(loss)
        good &= not guards or (bias == 0) == (counts[2] == 0)
        good &= not guards or bias != BIASES[-1] or mean + error <= MOST_RISE_NATS
        print(f"hot_bias {bias:<5} {'with' if guards else 'no'} guards: loss {nats:.4f}, perplexity "
              f"{math.exp(nats):.3f}, rise {mean:+.4f} +- {error:.4f} nats; "
              f"{100 * counts[0] / (counts[0] + counts[1]):.1f} % hits, "
              f"{100 * counts[2] / (counts[0] + counts[1]):.2f} % substituted", flush=True)
    print(f"{len(exact)} tokens: {'good' if good else 'the guards do not hold what they promise'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
