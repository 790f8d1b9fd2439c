# narrow.py - runs a command on a terminal of 60 columns, and looks at its lines.
# SPDX-License-Identifier: Apache-2.0
#
# usage: narrow.py COMMAND...
#
# Prints what the command printed, and fails if a line is longer than the terminal
# though it could have been broken: one that has a blank after its indent, and is
# not a command to be copied ("$ ").
import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import unicodedata

COLUMNS = 60


def on_terminal(command):
    """(exit code, what stdout and stderr brought to the terminal)"""
    main, sub = os.openpty()
    fcntl.ioctl(sub, termios.TIOCSWINSZ, struct.pack("4H", 24, COLUMNS, 0, 0))
    shown = b""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sub,
                          stderr=sub) as p:
        os.close(sub)
        try:
            while part := os.read(main, 65536):
                shown += part
        except OSError:
            pass  # EIO: the other end is closed
    os.close(main)
    return p.returncode, shown.decode()


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def main():
    code, text = on_terminal(sys.argv[1:])
    bad = 0
    for line in text.split("\n"):
        line = line.rstrip("\r").rsplit("\r", 1)[-1]  # over a progress line
        line = re.sub("\x1b\\[[0-9;]*[mK]", "", line)
        print(line)
        words = line.strip()
        if width(line) > COLUMNS and " " in words and words[:2] != "$ ":
            print(f"{' '.join(sys.argv[2:])}: {width(line)} columns: {line}",
                  file=sys.stderr)
            bad = 1
    return bad or code


sys.exit(main())
