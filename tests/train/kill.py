#!/usr/bin/env python3
# kill.py - training that is killed at random moments and resumed.
# SPDX-License-Identifier: Apache-2.0
#
# Usage: kill.py WEIR [--kills N] [--seed N]
#
# Trains a tiny network on a few pictures with the reference engine, undisturbed.
# Then the same is done in another folder by processes that are killed (SIGKILL)
# at random moments and started again with --resume, as often as it takes: the
# weights at the end must have the same digest. So it goes on, in new folders and
# with other numbers of threads, until there were N kills.
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SETTINGS = ['--engine', 'reference', '--size', '67', '--width', '0.0625', '-b',
            '6', '--epochs', '2', '--learning-rate', '0.001', '--save-every',
            '1', '--monitor', '0', '--quiet', '--json']
LEVELS = ['snapshot', 'fast', 'slow', 'verified']


class Failed(Exception):
    pass


def command(weir, folder, life):
    argv = [weir, 'train', 'set', *SETTINGS, '--ckpt', f'{folder}/fast',
            '--resume', '--compute-threads', str(life % 4 + 1), '-t',
            str(life // 2 % 3 + 1), '-p', str(life % 3), '--level',
            LEVELS[life % 4]]
    return argv + ['--slow', f'{folder}/slow'] if life % 2 else argv


def whole(argv):
    p = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True)
    if p.returncode:
        raise Failed(f"{' '.join(argv)}: {p.stderr.strip()}")
    return json.loads(p.stdout)


def killed(argv, seconds):
    """Whether it was still running after this time, and is dead now."""
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    try:
        p.wait(seconds)
    except subprocess.TimeoutExpired:
        p.send_signal(signal.SIGKILL)
    said = p.communicate()[1]
    if p.returncode not in (0, -signal.SIGKILL):
        raise Failed(f"{' '.join(argv)}: {p.returncode}: {said.strip()}")
    return p.returncode != 0


def trial(weir, number, rng, longest):
    """One training, killed as often as it happens; how often, and its end."""
    folder = f'trial{number}'
    os.mkdir(folder)
    # The tiers belong together: their number does not change on the way.
    two = rng.random() < 0.5
    kills = 0
    while True:
        life = rng.randrange(1000) * 2 + two
        if not killed(command(weir, folder, life), rng.uniform(0, longest)):
            break
        kills += 1
    end = whole(command(weir, folder, two))
    shutil.rmtree(folder)
    return kills, end['result']


def main():
    p = argparse.ArgumentParser()
    p.add_argument('weir')
    p.add_argument('--kills', type=int,
                   default=int(os.environ.get('WEIR_KILLS', 50)))
    p.add_argument('--seed', type=int, default=int(time.time()))
    a = p.parse_args()
    weir = os.path.realpath(a.weir)
    rng = random.Random(a.seed)
    print(f'seed {a.seed}', flush=True)
    with tempfile.TemporaryDirectory(prefix='weir-train-kill-') as place:
        os.chdir(place)
        subprocess.run([weir, 'gen', 'caltech101', 'set', '-n', '40', '-c',
                        '4', '-q'], check=True, stdout=subprocess.DEVNULL)
        start = time.monotonic()
        os.mkdir('alone')
        alone = whole(command(weir, 'alone', 0))['result']
        longest = (time.monotonic() - start) * 0.8
        print(f"undisturbed: {alone['iterations']} iterations, "
              f"{longest / 0.8:.2f} s, {alone['weights_digest']}", flush=True)
        kills = trials = 0
        while kills < a.kills:
            more, end = trial(weir, trials, rng, longest)
            kills += more
            trials += 1
            if end['iterations'] != alone['iterations'] or \
                    end['weights_digest'] != alone['weights_digest']:
                raise Failed(f'trial {trials}, after {more} kills: {end}')
        print(f'{kills} kills in {trials} trainings: the same weights')


try:
    main()
except Failed as e:
    sys.exit(f'FAILED: {e}')
