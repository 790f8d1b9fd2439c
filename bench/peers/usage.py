# usage.py - peak memory of all processes of a session.
# SPDX-License-Identifier: Apache-2.0
#
# PSS counts a page that several processes share once over all of them. What
# the pages of mapped files take is counted apart: they can be given back at
# any time, and a data file that is mapped is not the program's memory.
import os
import threading

from lib.memory import session_of

INTERVAL_S = 0.05
KEYS = ('Pss', 'Pss_File', 'Rss')


def usage_of(pid):
    """Bytes by key; empty when the process is gone."""
    found = {}
    try:
        with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as f:
            for line in f:
                key, _, value = line.partition(':')
                if key in KEYS:
                    found[key] = int(value.split()[0]) * 1024
    except OSError:
        pass
    return found


def sums(session):
    pids = [int(n) for n in os.listdir('/proc') if n.isdigit()]
    usages = [usage_of(p) for p in pids if session_of(p) == session]
    pss, files, rss = (sum(u.get(k, 0) for u in usages) for k in KEYS)
    return {'pss_bytes': pss, 'own_bytes': pss - files, 'rss_bytes': rss}


class Watch(threading.Thread):
    """The highest sums seen until stopped. It costs the watched program some
    speed: never watch a run whose speed counts."""

    def __init__(self, session):
        super().__init__(daemon=True)
        self.session = session
        self.peak = {}
        self.stopped = threading.Event()
        self.start()

    def run(self):
        while True: # at least once, also of a process that ends soon
            for key, value in sums(self.session).items():
                self.peak[key] = max(self.peak.get(key, 0), value)
            if self.stopped.wait(INTERVAL_S):
                return

    def stop(self):
        self.stopped.set()
        self.join()
        return self.peak
