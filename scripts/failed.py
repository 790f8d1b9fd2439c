#!/usr/bin/python3
# failed.py - which tests failed, and the end of what each said.
# SPDX-License-Identifier: Apache-2.0
#
# usage: failed.py testlog.json
#
# For the last lines of a test run: whoever has only those still learns which
# test it was. Prints nothing when all passed.
import json
import sys

GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}
LINES = 8  # of each test


def end_of(test):
    """The last lines of its two streams, errors last."""
    text = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    return [line for line in text.splitlines() if line.strip()][-LINES:]


def main():
    try:
        with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
            tests = [json.loads(line) for line in log if line.strip()]
    except OSError as e:
        sys.exit(f"failed.py: {e}")
    for test in tests:
        if test["result"] in GOOD:
            continue
        print(f"\nfailed: {test['name']} ({test['result']},"
              f" exit {test['returncode']}, {test['duration']:.1f} s)")
        for line in end_of(test):
            print(f"  {line[:200]}")


main()
