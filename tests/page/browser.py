# browser.py - a headless Chromium, steered through a pair of pipes.
# SPDX-License-Identifier: Apache-2.0
#
# The DevTools protocol without a port: messages are JSON, each ended by a zero
# byte, on descriptors 3 (to the browser) and 4 (from it).
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
TIMEOUT_S = 300
OPTIONS = (
    '--headless=new', '--no-sandbox', '--remote-debugging-pipe',
    '--no-first-run', '--no-default-browser-check', '--disable-gpu',
    '--disable-extensions', '--disable-component-update', '--disable-sync',
    '--disable-background-networking', '--disable-dev-shm-usage',
    '--disable-breakpad', '--mute-audio', '--hide-scrollbars',
    '--host-resolver-rules=MAP * ~NOTFOUND')


class BrowserError(Exception):
    """The browser ended, was silent for too long, or refused a call."""


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """with Browser() as b: b.open(url) -> Page"""

    def __init__(self, path=None):
        self.home = tempfile.mkdtemp(prefix='weir-browser-')
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        env = dict(os.environ, HOME=self.home, XDG_CONFIG_HOME=self.home,
                   XDG_CACHE_HOME=self.home)
        # The shell puts the pipes on 3 and 4, which the protocol demands.
        script = f'exec "$@" 3<&{to_child} 4>&{from_child}'
        try:
            self.child = subprocess.Popen(
                ['/bin/bash', '-c', script, 'browser', path or find(),
                 *OPTIONS, f'--user-data-dir={self.home}', 'about:blank'],
                pass_fds=(to_child, from_child), env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True)
        finally:
            os.close(to_child)
            os.close(from_child)
        self.buffer = b''
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.back)
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass # it has ended by itself
        self.child.wait()
        for _ in range(50): # its helpers may be writing a moment longer
            shutil.rmtree(self.home, ignore_errors=True)
            if not os.path.exists(self.home):
                break
            time.sleep(0.1)

    def receive(self, deadline):
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise BrowserError('no answer in time')
            data = os.read(self.back, 1 << 20)
            if not data:
                raise BrowserError('the browser has ended')
            self.buffer += data
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        data = json.dumps(message).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.receive(deadline)
            if answer.get('id') != self.number:
                self.events.append(answer)
            elif 'error' in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                return answer['result']

    def wait(self, method, session):
        """The next event of this name, taken out of those that came."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            for i, e in enumerate(self.events):
                if e.get('method') == method and e.get('sessionId') == session:
                    return self.events.pop(i)['params']
            self.events.append(self.receive(deadline))

    def open(self, url, **screen):
        return Page(self, url, **screen)


class Page:
    """One tab. What it said and asked for is kept in the events."""

    def __init__(self, browser, url, width=1280, height=900, dark=False,
                 mobile=False):
        self.browser = browser
        # A context of its own: nothing is remembered from another page.
        self.context = browser.call(
            'Target.createBrowserContext')['browserContextId']
        target = browser.call('Target.createTarget', url='about:blank',
                              browserContextId=self.context)
        self.session = browser.call('Target.attachToTarget',
                                    targetId=target['targetId'],
                                    flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=height, deviceScaleFactor=2 if mobile else 1,
                  mobile=mobile)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme',
             'value': 'dark' if dark else 'light'}])
        self.call('Page.navigate', url=url)
        browser.wait('Page.loadEventFired', self.session)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def run(self, script):
        """The value of a JavaScript expression; promises are waited for."""
        r = self.call('Runtime.evaluate', expression=script, returnByValue=True,
                      awaitPromise=True)
        if 'exceptionDetails' in r:
            text = r['exceptionDetails']
            raise BrowserError(f"{script[:80]}: "
                               f"{text.get('exception', text)}")
        return r['result'].get('value')

    def heard(self):
        """What the page said: errors, warnings, whatever went to the log."""
        said = []
        for e in self.browser.events:
            if e.get('sessionId') != self.session:
                continue
            p = e['params']
            if e['method'] == 'Runtime.exceptionThrown':
                said.append(str(p['exceptionDetails']))
            elif e['method'] == 'Runtime.consoleAPICalled':
                said.append(f"console.{p['type']}: {p['args']}")
            elif e['method'] == 'Log.entryAdded':
                said.append(f"{p['entry']['level']}: {p['entry']['text']}")
        return said

    def requests(self):
        return [e['params']['request']['url'] for e in self.browser.events
                if e.get('sessionId') == self.session
                and e['method'] == 'Network.requestWillBeSent']

    def close(self):
        self.browser.call('Target.disposeBrowserContext',
                          browserContextId=self.context)
