# page.py - weir report: the page of fifty records, and how soon it is usable.
# SPDX-License-Identifier: Apache-2.0
#
# The records are made up, after docs/formats/record.md. A page is usable when
# the charts in the window are drawn: page.js marks that moment.
import json
import math
import os
import random
import statistics
import sys
import time

from lib.report import Row
from lib.session import Failure

RECORDS = 50, 5, 2 # of each scale
BATCHES, RUNS = 20000, 4 # of a record, in all its counted runs
SAMPLES = 600 # of the monitor
DEVICES = ('hdd', 'ssd', 'optane', 'lustre', 'nvme')
SIZE_BAR, READY_BAR_MS = 10e6, 2000
MB = 1e6

WATCH = '''window.longest = 0;
new PerformanceObserver((list) => list.getEntries().forEach((e) => {
  window.longest = Math.max(window.longest, e.duration);
})).observe({ type: "longtask", buffered: true });'''

READY = '''new Promise((done) => {
  const look = () => {
    const mark = performance.getEntriesByName("weir-ready")[0];
    if (!mark)
      return setTimeout(look, 5);
    done({ ready: mark.startTime, longest: window.longest,
      charts: document.querySelectorAll("figure").length });
  };
  look();
})'''


def browser_module():
    """The driver that the tests use."""
    folder = os.path.join(os.path.dirname(__file__), '../../tests/page')
    sys.path.insert(0, os.path.abspath(folder))
    import browser # pylint: disable=import-outside-toplevel
    return browser


# --- records ---

def monitor(rng):
    t = [round(0.1 * i, 1) for i in range(1, SAMPLES + 1)]

    def wave(level, noise):
        return [round(level * (1 + 0.3 * math.sin(i / 40))
                      + rng.random() * noise, 3) for i in range(SAMPLES)]
    return {
        'hz': 10, 'merged': 1, 'cpu_s': 0.04,
        'machine': {
            't_s': t, 'cpu_process_cores': wave(1.2, 0.3),
            'cpu_machine_cores': wave(1.4, 0.3),
            'cpu_iowait_cores': wave(0.2, 0.1), 'rss_bytes': wave(2e8, 1e6),
            'page_cache_bytes': wave(4e9, 1e7), 'dirty_bytes': wave(1e6, 1e5),
            'asked_bytes_per_s': wave(9e8, 1e8),
            'device_read_bytes_per_s': wave(9e8, 1e8),
            'device_write_bytes_per_s': wave(1e5, 1e5),
            'major_faults_per_s': wave(2, 1)},
        'disks': [{
            'name': 'vda', 't_s': t, 'reads_per_s': wave(8000, 500),
            'writes_per_s': wave(10, 5), 'read_bytes_per_s': wave(9e8, 1e8),
            'write_bytes_per_s': wave(1e5, 1e5), 'queue': wave(12, 4),
            'busy': wave(0.7, 0.1)}]}


def batch_times(rng, count):
    t, waits, gaps = [], [], []
    now = 0
    for _ in range(count):
        gap = 9 + 4 * rng.random() + (200 if rng.random() < 0.002 else 0)
        now += gap
        t.append(round(now, 2))
        gaps.append(round(gap, 3))
        waits.append(round(gap * 0.4, 3))
    return {'t_ms': t, 'wait_ms': waits, 'gap_ms': gaps, 'merged': 1}


def bench_run(rng, rate, warm_up):
    batches = BATCHES // RUNS
    seconds = round(batches * 32 / rate, 3)
    run = {
        'seconds': seconds, 'samples': batches * 32, 'batches': batches,
        'bytes': batches * 32 * 112000, 'samples_per_s': rate,
        'bytes_per_s': rate * 112000, 'requests': batches * 32,
        'in_force': {'threads': 4, 'depth': 32, 'prefetch': 4},
        'cpu_s_per_1000': 0.31, 'peak_bytes': 210000000,
        'first_batch_ms': 40.2, 'gap_p50_ms': 11.1, 'gap_p99_ms': 13.0,
        'resident': 0, 'io': 'io_uring', 'verdict': 'decode-bound',
        'decode_limit_per_s': rate * 1.1, 'read_limit_per_s': rate * 2,
        'read_limit_threads': 4, 'slot_limit_per_s': 0, 'start_s': 0.1,
        'times': {'storage_wait_s': seconds * 0.4, 'submit_s': 0.2,
                  'decode_s': seconds * 1.2, 'resample_s': seconds * 0.3,
                  'idle_s': seconds * 0.1, 'consumer_wait_s': seconds * 0.9,
                  'consumer_busy_s': seconds * 0.1}}
    if not warm_up:
        run['batch_times'] = batch_times(rng, batches)
    return run


def record(number):
    rng = random.Random(number)
    rate = round(800 * (1 + number % len(DEVICES)) * (0.9 + 0.2 * rng.random()))
    runs = [bench_run(rng, rate, warm_up=i == 0) for i in range(RUNS + 1)]
    return {
        'schema': 'weir-record', 'version': 1, 'command': 'bench',
        'time': f'2026-01-{1 + number % 28:02}T12:00:00Z', 'weir': '0.1.0',
        'host': {'name': f'node{number}', 'kernel': 'Linux 6.1.0',
                 'cpu': 'a processor', 'cores': 8,
                 'memory_bytes': 32 * 2**30,
                 'file_system': {'type': 'ext4', 'source': '/dev/vda1',
                                 'device': 'vda', 'model': '',
                                 'rotational': 0}},
        'monitor': monitor(rng),
        'dataset': {
            'url': f'emu:{DEVICES[number % len(DEVICES)]}:data/imagenet',
            'format': 'images', 'samples': 1281167, 'bytes': 143000000000,
            'files': 1281167, 'classes': 1000, 'index_problems': 0,
            'sizes': [{'from': 2**k, 'to': 2**(k + 1), 'count': 1000 * k,
                       'bytes': 1000 * k * 2**k} for k in range(10, 20)]},
        'consumer_ms': 0,
        'cases': [{
            'settings': {'stages': 'all', 'page_cache': 'cold',
                         'threads': 2**(number // len(DEVICES) % 4),
                         'depth': 32, 'prefetch': 4, 'batch': 32},
            'result': {'samples_per_s': rate,
                       'samples_per_s_min': rate * 0.97,
                       'samples_per_s_max': rate * 1.02,
                       'of_decode_limit': 0.91, 'of_read_limit': 0.5,
                       'verdict': 'decode-bound'},
            'warm_up_runs': 1, 'runs': runs, 'bad_count': 0, 'bad': []}]}


def records(session):
    count = session.pick(*RECORDS)
    folder = os.path.join(session.data, f'records-{count}')
    if not os.path.isdir(folder):
        session.say(f'making {count} records')
        making = folder + '.making'
        os.makedirs(making, exist_ok=True)
        for i in range(count):
            with open(os.path.join(making, f'{i:02}.json'), 'w',
                      encoding='utf-8') as f:
                json.dump(record(i), f)
        os.rename(making, folder)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


# --- measuring ---

def in_browser(browser, url, rounds):
    """[{ready, longest, charts}], a new browser context each time."""
    results = []
    with browser.Browser() as b:
        for _ in range(rounds):
            page = b.open('about:blank')
            page.call('Page.addScriptToEvaluateOnNewDocument', source=WATCH)
            page.call('Page.navigate', url=url)
            results.append(page.run(READY))
            page.close()
    return results


def measure(session):
    paths = records(session)
    page = os.path.join(session.out, 'report.html')
    start = time.monotonic()
    session.run([session.weir, 'report', '--html', page, *paths])
    seconds = time.monotonic() - start
    size = os.path.getsize(page)
    what = f'{len(paths)} records, {len(paths) * BATCHES:,} batches'
    rows = [Row(f'report of {what}', f'page < {SIZE_BAR / MB:.0f} MB',
                f'{size / MB:.2f} MB', size < SIZE_BAR,
                [f'made in {seconds:.2f} s'])]
    browser = browser_module()
    if not browser.find():
        rows.append(Row('time until the page is usable',
                        f'< {READY_BAR_MS / 1000:.0f} s', '-', None,
                        ['there is no chromium']))
        return rows
    try:
        runs = in_browser(browser, 'file://' + os.path.abspath(page),
                          session.rounds(5))
    except browser.BrowserError as e:
        raise Failure(f'chromium: {e}') from e
    ready = statistics.median(r['ready'] for r in runs)
    longest = statistics.median(r['longest'] for r in runs)
    rows.append(Row('time until the page is usable in Chromium',
                    f'< {READY_BAR_MS / 1000:.0f} s', f'{ready / 1000:.2f} s',
                    ready < READY_BAR_MS,
                    [f"{runs[0]['charts']} charts; the longest task took "
                     f'{longest:.0f} ms']))
    return rows
