#!/usr/bin/env python3
"""Expert hits over the first 32 decoded tokens of requests that alternate between languages and code, with the tag of
the task and without.

One server with tags and one without get the same prompts, the tasks taking turns; each request's own decode hits are
counted from /metrics. The first rounds teach and are not counted. Standard library only.
"""
from measured_server import DOMAINS, Server, options_parser, prompts_of


def rounds(options, domains):
    columns = [prompts_of(options, domain, options.rounds, options.prompt_tokens) for domain in domains]
    return [list(zip(domains, prompts)) for prompts in zip(*columns)]


def run(options, share, domains, tags):
    server = Server(options, ["--expert-share", share, "--parallel", "1"])
    total = [0.0, 0.0]
    for number, prompts in enumerate(rounds(options, domains)):
        for domain, prompt in prompts:
            before = server.decode_counts()
            more = {"metadata": {"task_tag": domain}} if tags else {}
            server.generate(prompt, options.tokens, **more)
            # What comes later serves the cache, not the measurement.
            after = server.decode_counts()
            server.generate(prompt, options.more_tokens, **more)
            if number >= options.teach:
                total = [sum_ + b - a for sum_, a, b in zip(total, before, after)]
    fetched = server.metric("luce_expert_fetched_bytes_total") / 1e6
    ahead = server.metric("luce_expert_fetched_ahead_total")
    server.stop()
    return 100 * total[0] / sum(total), fetched, ahead


def main(arguments=None):
    parser = options_parser(__doc__)
    parser.add_argument("--shares", default="25%,50%")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--teach", type=int, default=2, help="rounds that are not counted")
    parser.add_argument("--prompt-tokens", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--more-tokens", type=int, default=96, help="of each request, after those that are counted")
    options = parser.parse_args(arguments)
    for share in options.shares.split(","):
        for name, domains in (("German and C", ["de", "C"]), ("six tasks", DOMAINS)):
            (tagged, tagged_mb, ahead), (plain, plain_mb, _) = (run(options, share, domains, tags)
                                                                for tags in (True, False))
            print(f"{name:<12} {share:>4} resident: {tagged:5.1f} % hits with tags, {plain:5.1f} % without; "
                  f"{tagged_mb:.0f} MB fetched, {plain_mb:.0f} without; {ahead:.0f} experts ahead", flush=True)


if __name__ == "__main__":
    main()
