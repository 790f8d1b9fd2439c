# confidential.py - what a trace must not hold: keys in URLs, arguments if not wanted.
# SPDX-License-Identifier: Apache-2.0
#
# usage: confidential.py WEIR TRACESUM
import os
import subprocess
import sys
import tempfile

PYTHON = '/usr/bin/python3'
URL = 'https://host/data.tar?X-Signature=SIGNED'
# The program starts a child with the same arguments, and takes the URL for a
# file, as many libraries do first.
SCRIPT = ('import os, subprocess, sys\n'
          'os.path.exists(sys.argv[1])\n'
          'print(os.environ["WEIR_TRACE"], flush=True)\n'
          'subprocess.run(["sh", "-c", "cat known; true", *sys.argv[1:]])\n'
          'sys.stdin.readline()\n')
COMMAND = [PYTHON, '-c', SCRIPT, URL, '--token=HIDDEN']


class Place:
    def __init__(self, weir, tracesum, folder):
        self.weir, self.tracesum, self.folder = weir, tracesum, folder
        with open(os.path.join(folder, 'known'), 'wb') as f:
            f.write(bytes(1000))

    def start(self, name, *options):
        return subprocess.Popen(
            [self.weir, 'trace', '-q', '-o', name, *options, '--', *COMMAND],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def text(self, name):
        """All that a trace says, by three readers."""
        trace = os.path.join(self.folder, name)
        return b''.join(subprocess.run(
            command, check=True, capture_output=True, timeout=60).stdout
            for command in ([self.tracesum, trace],
                            [self.weir, 'report', trace, '--as', 'json'],
                            [self.weir, 'report', trace, '--as', 'chrome']))

    def look(self, name, arguments):
        text = self.text(name)
        assert b'known' in text and b'python3' in text, text
        assert b'SIGNED' not in text, 'the query of a URL is in the trace'
        assert arguments == (b'HIDDEN' in text), 'arguments'
        assert arguments == (b'https://host/data.tar' in text), 'arguments'

    def traced(self, name, arguments, *options):
        p = self.start(name, *options)
        p.communicate(timeout=60)
        assert p.returncode == 0
        self.look(name, arguments)

    def kill(self, arguments, *options):
        """What the next tracer saves for a killed one; None: that was another
        test's, and saved it in its folder."""
        p = self.start(f'lost{arguments}.wtrace', *options)
        memory = p.stdout.readline().strip().decode()
        p.kill()
        p.wait()
        p.stdin.close()
        p.stdout.read()  # the program ends, and is gone a bit later
        p.stdout.close()
        for _ in range(100):
            subprocess.run([self.weir, 'trace', '-q', '-o', f'after-{p.pid}',
                            'true'], check=True, cwd=self.folder, timeout=60)
            if not os.path.exists(memory):
                break
        assert not os.path.exists(memory)
        name = f'recovered-{p.pid}.wtrace'
        return name if os.path.exists(os.path.join(self.folder, name)) else None

    def killed(self, arguments, *options):
        for _ in range(20):
            name = self.kill(arguments, *options)
            if name:
                self.look(name, arguments)
                return
        raise AssertionError('nothing was recovered')


def main(weir, tracesum):
    with tempfile.TemporaryDirectory() as folder:
        p = Place(os.path.abspath(weir), os.path.abspath(tracesum), folder)
        p.traced('all.wtrace', True)
        p.traced('none.wtrace', False, '--no-arguments')
        p.killed(True)
        p.killed(False, '--no-arguments')
        subprocess.run([p.weir, 'trace', 'merge', 'merged.wtrace',
                        'all.wtrace', 'none.wtrace'], check=True, cwd=folder,
                       stderr=subprocess.DEVNULL)
        p.look('merged.wtrace', True)


main(*sys.argv[1:])
