#!/usr/bin/python3
# failed.py - which tests failed, and the end of what each said.
# SPDX-License-Identifier: Apache-2.0
#
# usage: failed.py testlog.json
#
# For the last lines of a test run: whoever has only those still learns which
# test it was, and how to repeat it. Prints nothing when all passed.
import json
import os
import re
import sys

GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}
LINES = 8  # of each test


def end_of(test):
    """The last lines of its two streams, errors last."""
    text = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    return [line for line in text.splitlines() if line.strip()][-LINES:]


def again(test):
    """The command that runs this test once more."""
    unit = re.search(r'/tests/unit/(test-[^/]+)$', test['command'][0])
    name = unit[1] if unit else test['name'].split(' / ')[-1]
    part = os.environ.get('WEIR_TEST_PART', '')  # empty: all parts
    return f'WEIR_TEST_PART={part} make check T={name}'


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
        print(f"repeat it: {again(test)}")


main()
