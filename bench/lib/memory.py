# memory.py - peak memory of a process and all it has started.
# SPDX-License-Identifier: Apache-2.0
import os
import threading

INTERVAL_S = 0.05


class Peak:
    """The highest sums seen over the tree. PSS counts a shared page once over
    all that share it, RSS counts it in each process."""

    def __init__(self):
        self.pss_bytes = 0
        self.rss_bytes = 0
        self.samples = 0


def session_of(pid):
    """The session id of a process; None when it is gone."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
            return int(f.read().rpartition(')')[2].split()[3])
    except (OSError, ValueError, IndexError):
        return None


def usage_of(pid):
    """(PSS, RSS) in bytes; zeros when the process is gone."""
    found = {'Pss': 0, 'Rss': 0}
    try:
        with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as f:
            for line in f:
                key, _, value = line.partition(':')
                if key in found:
                    found[key] = int(value.split()[0]) * 1024
    except OSError:
        pass
    return found['Pss'], found['Rss']


class Watch(threading.Thread):
    """Samples the processes of one session until stopped. It costs the
    watched program some speed: never watch a run whose speed counts."""

    def __init__(self, session):
        super().__init__(daemon=True)
        self.session = session
        self.peak = Peak()
        self.stopped = threading.Event()
        self.start()

    def run(self):
        while True: # at least once, also of a process that ends soon
            pids = [int(n) for n in os.listdir('/proc') if n.isdigit()]
            usages = [usage_of(p) for p in pids
                      if session_of(p) == self.session]
            self.peak.pss_bytes = max(self.peak.pss_bytes,
                                      sum(u[0] for u in usages))
            self.peak.rss_bytes = max(self.peak.rss_bytes,
                                      sum(u[1] for u in usages))
            self.peak.samples += 1
            if self.stopped.wait(INTERVAL_S):
                return

    def stop(self):
        self.stopped.set()
        self.join()
        return self.peak
