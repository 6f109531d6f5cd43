#!/usr/bin/env python3
"""Runs the structure checks: check_structure.py --root DIR [--build DIR] [--warnings] CHECK..."""
import argparse
import sys

import conventions
import kernel_objects
import layers
import sizes
import test_files

SOURCE_CHECKS = {"layers": layers.check, "sizes": sizes.check, "conventions": conventions.check, "tests": test_files.check}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, help="the checkout")
    parser.add_argument("--build", help="a build folder, for kernel_objects")
    parser.add_argument("--warnings", action="store_true", help="show what is above its aim but below twice it")
    parser.add_argument("checks", nargs="+", choices=[*SOURCE_CHECKS, "kernel_objects"])
    arguments = parser.parse_args()
    failed = False
    for name in arguments.checks:
        if name == "kernel_objects":
            found = kernel_objects.check(arguments.root, arguments.build)
        else:
            found = SOURCE_CHECKS[name](arguments.root)
        failed |= report(name, found, arguments.warnings)
    return 1 if failed else 0


def report(name, found, show_warnings):
    """Prints the findings; true when the check failed."""
    if found.looked_at == 0:
        found.error(name, 0, "the check found nothing to look at")
    for error in found.errors:
        print(f"error: {error}")
    for warning in found.warnings if show_warnings else []:
        print(f"warning: {warning}")
    print(f"{name}: {found.looked_at} files, {len(found.errors)} errors, {len(found.warnings)} warnings")
    return bool(found.errors)


if __name__ == "__main__":
    sys.exit(main())
