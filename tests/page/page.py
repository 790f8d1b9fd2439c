# page.py - the page of a report in headless Chromium.
# SPDX-License-Identifier: Apache-2.0
#
# usage: page.py PAGE-DUMP WEIR MAKE.py [SCREENSHOTS]
#
# PAGE-DUMP prints a page with everything in it; WEIR makes pages of the records
# that MAKE.py writes. With a folder for screenshots it also leaves pictures to
# look at there.
import base64
import os
import re
import subprocess
import sys
import tempfile

import browser

CHARTS = 12 # of the full page that have numbers
ATTACK = ('</script><script>window.hacked=1</script>'
          '<img src=x onerror="window.hacked=2">&lt;b&gt;<!--')

# The points of a canvas, through another one: to read from it directly makes
# Chromium warn.
PIXELS = '''((c) => {
  const copy = document.createElement("canvas");
  copy.width = c.width;
  copy.height = c.height;
  const paint = copy.getContext("2d", { willReadFrequently: true });
  if (!c.width || !c.height)
    return new Uint32Array();
  paint.drawImage(c, 0, 0);
  return new Uint32Array(
    paint.getImageData(0, 0, c.width, c.height).data.buffer);
})'''

# Scrolls to each chart, waits until it is drawn, and counts its colours.
DRAWN = f'''(async () => {{
  const result = [];
  for (const f of document.querySelectorAll("figure:has(canvas)")) {{
    f.scrollIntoView();
    for (let i = 0; i < 20000 && !("drawn" in f.dataset); i++)
      await new Promise((r) => setTimeout(r, 10));
    const c = f.querySelector("canvas");
    result.push({{ title: f.querySelector("h3").textContent,
      colours: new Set({PIXELS}(c)).size, width: c.width, height: c.height }});
  }}
  scrollTo(0, 0);
  return result;
}})()'''

OVERFLOW = '''Array.from(document.querySelectorAll("body *"))
  .filter((e) => !e.closest(".scroll") && !e.closest(".skip")
    && e.getBoundingClientRect().right > innerWidth + 0.5)
  .map((e) => e.tagName + "." + e.className).slice(0, 5)'''

CELLS = '''((title, column) => {
  const t = Array.from(document.querySelectorAll("table"))
    .find((t) => t.caption.textContent === title);
  return Array.from(t.tBodies[0].rows, (r) => r.cells[column].textContent);
})'''

CLICK = '''((title, column) => {
  const t = Array.from(document.querySelectorAll("table"))
    .find((t) => t.caption.textContent === title);
  const th = t.tHead.rows[0].cells[column];
  th.querySelector("button").click();
  return th.getAttribute("aria-sort");
})'''


class Checks:
    def __init__(self):
        self.failed = 0

    def equal(self, what, got, want):
        if got != want:
            self.failed += 1
            print(f'FAIL {what}: {got!r}, not {want!r}')

    def true(self, what, ok, detail=''):
        if not ok:
            self.failed += 1
            print(f'FAIL {what} {detail}')


def check_quiet(check, page, url):
    check.equal('said', page.heard(), [])
    check.equal('requests', page.requests(), [url])
    check.equal('scripts of texts', page.run('typeof window.hacked'),
                'undefined')


def check_charts(check, page, count):
    charts = page.run(DRAWN)
    check.equal('charts', len(charts), count)
    for c in charts:
        check.true('drawn', c['colours'] > 5, c)
    return charts


def check_texts(check, page):
    """Hostile texts stand on the page as they are."""
    for what in ('.summary', '.headlines dt', '.claim', '.verdicts td',
                 '.here', 'h2', '.toc a', 'dt', 'dd', '.note', 'caption', 'thead button',
                 'td', 'h3', '.legend button', '.why'):
        texts = page.run('Array.from(document.querySelectorAll('
                         f'{what!r}), (e) => e.textContent)')
        check.true(f'{what} with an attack', any(ATTACK in t for t in texts))
    check.equal('elements from texts', page.run(
        'document.querySelectorAll("img, b, main script:not([type])").length'),
        0)
    data = page.run('Array.from(document.querySelectorAll('
                    '"figure script"), (s) => JSON.parse(s.textContent))')
    check.true('attack in the data', any(d['x'] == ATTACK for d in data))
    odd = ('a|b "q" \'p\' & \\xe2\\x80\\xa8 \\xe2\\x80\\xaeabc '
           '\\xff\\x01 \U0001f4be')
    check.true('odd text', any(d['x'] == odd for d in data))
    return data


def check_data(check, data):
    bars = data[0]
    check.equal('kind', bars['kind'], 'bars')
    check.equal('labels', bars['labels'], ['1', '2', '4', '8'])
    check.equal('values', bars['series'][1]['y'], [327, 462, None, 923.1])
    waits = next(d for d in data if d['kind'] == 'points')
    s = waits['series'][0]
    check.true('thinned', 1000 < len(s['y']) <= 4000, len(s['y']))
    check.equal('x for each y', len(s['x']), len(s['y']))
    check.true('stalls', all(s['y'][i] > 25 for i in s['marked']))
    lines = next(d for d in data if d['kind'] == 'lines')
    check.equal('x once', ['x' in s for s in lines['series']],
                [True, False, False, False])


def check_numbers(check, page):
    def cells(title, column):
        return page.run(f'{CELLS}({title!r}, {column})')
    check.equal('numbers of bars', cells('Bandwidth by threads', 2),
                ['327.0', '462.0', '-', '923.1'])
    check.equal('numbers of lines', cells('Latency by depth, direct', 0),
                ['1', '2', '4', '8', '16', '32', '64', '128'])
    check.equal('numbers of areas', cells('I/O over time', 1), ['600', '600'])
    check.equal('number of points', cells('Wait for each batch', 1), ['20,000'])
    check.equal('points are named', cells('Wait for each batch', 0), ['waits'])


def check_sorting(check, page):
    def click(column):
        return page.run(f'{CLICK}("Cases", {column})')

    def cells(column):
        return page.run(f'{CELLS}("Cases", {column})')
    check.equal('ascending', click(2), 'ascending')
    check.equal('numbers', cells(2),
                ['152.4', '350.1', '1,603.0', '12,890.6', '-'])
    check.equal('descending', click(2), 'descending')
    check.equal('blanks last', cells(2),
                ['12,890.6', '1,603.0', '350.1', '152.4', '-'])
    click(3)
    check.equal('sizes', cells(3),
                ['512 B', '4 KiB', '64 KiB', '1.5 MiB', '-'])
    click(0)
    check.equal('names', cells(0), ['hdd', 'hdd', 'lustre', 'optane', 'ssd'])
    check.equal('one column', page.run(
        'document.querySelectorAll("[aria-sort]").length'), 1)


def check_legend(check, page):
    """Switching a series off takes its bars from the chart."""
    count = (f'{PIXELS}(document.querySelector("figure canvas"))'
             '.filter((v) => v === 0xffb27200).length')
    press = 'document.querySelector(".legend button").click()'
    check.true('bars of the first series', page.run(count) > 500)
    page.run(press)
    check.equal('switched off', page.run(count), 0)
    check.equal('said so', page.run(
        'document.querySelector(".legend button").ariaPressed'), 'false')
    page.run(press)
    check.true('switched on', page.run(count) > 500)


INK, SOFT, BAND = 0xff241f1b, 0xff6e6359, 0xfff4f1ee # as pixels, light


def check_marks(check, page):
    """Whiskers, hatches, ceilings and bands are on the canvas."""
    def count(title, colour):
        return page.run(
            f'{PIXELS}(Array.from(document.querySelectorAll("figure")).find('
            f'(f) => f.querySelector("h3").textContent === {title!r})'
            f'.querySelector("canvas")).filter((v) => v === {colour}).length')

    def press(name):
        page.run('Array.from(document.querySelectorAll(".legend button"))'
                 f'.find((b) => b.textContent === {name!r}).click()')
    title = 'Here and in the paper'
    both = count(title, INK)
    press('compute alone')
    whiskers = count(title, INK)
    check.true('a ceiling', both > whiskers + 100, (both, whiskers))
    hatched = count(title, SOFT)
    for name in ('here', 'here, prefetch'):
        press(name)
    check.true('whiskers', whiskers > 60, whiskers)
    check.equal('whiskers go with their bars', count(title, INK), 0)
    for name in ('paper', 'paper, prefetch'):
        press(name)
    check.true('hatches', hatched > count(title, SOFT) + 200,
               (hatched, count(title, SOFT)))
    for name in ('compute alone', 'here', 'here, prefetch', 'paper',
                 'paper, prefetch'):
        press(name)
    check.true('drawn again', count(title, INK) > whiskers + 100,
               count(title, INK))
    check.true('bands', count('I/O over time', BAND) > 2000,
               count('I/O over time', BAND))


def check_top(check, page):
    check.equal('figures on top', page.run(
        'Array.from(document.querySelectorAll(".headlines dd"),'
        ' (e) => e.textContent)'), ['12,890 images/s', '3 %', '1.4 times'])
    rows = page.run(
        'Array.from(document.querySelectorAll(".verdicts tbody tr"), (r) => ['
        'r.querySelector(".verdict").textContent, document.querySelector('
        'r.querySelector("a").getAttribute("href") + " h2").textContent])')
    check.equal('verdicts', rows, [
        ['holds', 'Runtime by device'],
        ['cannot be seen here', 'A figure that cannot be judged'],
        ['does not hold', 'A figure that differs']])
    check.equal('colours of a chart', page.run(
        'Array.from(document.querySelectorAll(".legend")).filter((l) => {'
        '  const c = Array.from(l.querySelectorAll("i:not(.mark)"),'
        '    (i) => i.className.split(" ")'
        '      .find((n) => /^([khl][0-9]|ceiling)$/.test(n)));'
        '  return new Set(c).size !== c.length; }).length'), 0)


def check_idle(check, page):
    """What is below the window is drawn when there is nothing else to do."""
    check.true('drawn first', page.run(
        '(async () => { for (let i = 0; i < 1000; i++) {'
        '  const m = performance.getEntriesByName("weir-ready")[0];'
        '  if (m) return m.detail;'
        '  await new Promise((r) => setTimeout(r, 10)); } })()') < CHARTS)
    check.equal('drawn when idle', page.run(
        '(async () => { const drawn = () =>'
        '  document.querySelectorAll("[data-drawn]").length;'
        f'  for (let i = 0; i < 3000 && drawn() < {CHARTS}; i++)'
        '    await new Promise((r) => setTimeout(r, 10));'
        '  return drawn(); })()'), CHARTS)


def check_theme(check, page, dark):
    paper = 'getComputedStyle(document.documentElement).backgroundColor'
    colours = ['rgb(255, 255, 255)', 'rgb(15, 19, 24)']
    check.equal('theme', page.run(paper), colours[dark])
    page.run('document.getElementById("theme").click()')
    check.equal('other theme', page.run(paper), colours[not dark])
    page.run('document.getElementById("theme").click()')


def check_access(check, page):
    check.equal('levels of headings', page.run(
        'Array.from(new Set(Array.from(document.querySelectorAll('
        '"h1,h2,h3,h4"), (e) => e.tagName))).join()'), 'H1,H2,H3')
    check.equal('charts without a text', page.run(
        'Array.from(document.querySelectorAll("canvas")).filter((c) => '
        'c.getAttribute("role") !== "img" || c.ariaLabel.length < 30).length'),
        0)
    check.equal('tables without a name', page.run(
        'Array.from(document.querySelectorAll("table")).filter((t) => '
        '!t.caption.textContent).length'), 0)
    check.equal('anchors that lead nowhere', page.run(
        'Array.from(document.querySelectorAll("a")).filter((a) => '
        '!document.querySelector(a.getAttribute("href"))).length'), 0)


def pages_of(pdf):
    return len(re.findall(rb'/Type\s*/Page\b', pdf))


def to_pdf(page):
    return base64.b64decode(page.call(
        'Page.printToPDF', printBackground=True, paperWidth=8.27,
        paperHeight=11.69)['data'])


def check_print(check, page, shots):
    pdf = to_pdf(page)
    save(shots, 'print.pdf', pdf)
    check.true('pages', pages_of(pdf) > 2, pages_of(pdf))
    check.equal('folded again', page.run(
        'document.querySelectorAll("figure details[open]").length'), 0)
    page.run('document.querySelectorAll("canvas").forEach((c) => '
             '{ c.hidden = true; c.className = "hidden"; })')
    bare = len(to_pdf(page))
    check.true('charts on paper', len(pdf) > 1.3 * bare, (len(pdf), bare))
    page.run('document.querySelectorAll("canvas").forEach((c) => '
             '{ c.hidden = false; c.className = ""; })')


def look_at_paper(page, shots):
    """As it is printed, on a screen as wide as a sheet."""
    page.call('Emulation.setEmulatedMedia', media='print')
    page.call('Emulation.setDeviceMetricsOverride', width=700, height=900,
              deviceScaleFactor=1, mobile=False)
    page.run('dispatchEvent(new Event("beforeprint"))')
    shoot(page, shots, 'print.png')
    page.run('dispatchEvent(new Event("afterprint"))')


def save(shots, name, data):
    if shots:
        os.makedirs(shots, exist_ok=True)
        with open(os.path.join(shots, name), 'wb') as f:
            f.write(data)


def shoot(page, shots, name):
    if not shots:
        return
    size = page.call('Page.getLayoutMetrics')['cssContentSize']
    page.run('new Promise((r) => setTimeout(r, 100))')
    clip = {'x': 0, 'y': 0, 'width': size['width'],
            'height': min(size['height'], 16000), 'scale': 1}
    save(shots, name, base64.b64decode(page.call(
        'Page.captureScreenshot', captureBeyondViewport=True,
        clip=clip)['data']))


def check_wide(check, tab, url, shots):
    page = tab.open(url)
    check_idle(check, page)
    check_theme(check, page, dark=False)
    check_charts(check, page, CHARTS)
    shoot(page, shots, 'light.png')
    check_data(check, check_texts(check, page))
    check_numbers(check, page)
    check_access(check, page)
    check_top(check, page)
    check_legend(check, page)
    check_marks(check, page)
    check_lanes(check, page)
    check_grey(check, page)
    check_sorting(check, page)
    check_print(check, page, shots)
    check_charts(check, page, CHARTS)
    check_quiet(check, page, url)
    look_at_paper(page, shots)
    page.close()


def check_screen(check, tab, url, shots, name, **screen):
    page = tab.open(url, **screen)
    check_theme(check, page, screen.get('dark', False))
    check_charts(check, page, CHARTS)
    check.equal(f'{name}: too wide', page.run(OVERFLOW), [])
    check.true(f'{name}: body fits', page.run(
        'document.documentElement.scrollWidth <= innerWidth'))
    shoot(page, shots, name + '.png')
    check_quiet(check, page, url)
    page.close()


def check_empty(check, tab, url):
    page = tab.open(url)
    check.equal('title', page.run('document.title'), 'weir report')
    check_quiet(check, page, url)
    page.close()


# The pages of records: what make.py is told, of each record, and how many
# sections and charts the page has.
PAGES = {
    'study': ([['study']], 5, 7),
    'train': ([['train']], 1, 9),
    'trace': ([['trace', '--no-monitor']], 6, 7),
    'run': ([['run', '--no-monitor']], 1, 8),
    'search': ([['run-search', '--no-monitor']], 1, 8),
    'runs': ([['run', '--no-monitor'],
              ['run', '--no-monitor', '--seed', '3', '--scale', '1.1']],
             5, None),
    'plan': ([['plan']], 4, 6),
    'plan-scale': ([['plan-scale']], 4, 6),
    'plan-explain': ([['plan-explain']], 1, 1),
    'plans': ([['plan'], ['plan-png'], ['plan-tensor']], 14, None),
    'many': ([['bench', '--no-monitor', '--seed', '1'],
              ['bench', '--no-monitor', '--seed', '2', '--scale', '2'],
              ['bench', '--no-monitor', '--prefetch', '0',
               '--threads', '1,2,4,8', '--batches', '600'],
              ['bench', '--no-monitor', '--threads', '4', '--prefetch', '1'],
              ['probe'], ['train'], ['study']], 10, None),
}


def make_page(weir, maker, name, folder):
    paths = []
    for i, args in enumerate(PAGES[name][0]):
        paths.append(os.path.join(folder, f'{name}{i}.json'))
        with open(paths[-1], 'wb') as f:
            subprocess.run([sys.executable, maker, *args], stdout=f,
                           check=True)
    page = os.path.join(folder, name + '.html')
    subprocess.run([weir, 'report', *paths, '--html', page], check=True,
                   stdout=subprocess.DEVNULL)
    return 'file://' + page


DATA = """Array.from(document.querySelectorAll("figure script"),
  (s) => JSON.parse(s.textContent))"""

SAME_COLOURS = """Array.from(document.querySelectorAll(".legend"))
  .filter((l) => {
    const c = Array.from(l.querySelectorAll("i:not(.mark)"), (i) => i.className);
    return new Set(c).size !== c.length;
  }).map((l) => l.closest("figure").querySelector("h3").textContent)"""


def check_record(check, tab, url, shots, name, **screen):
    page = tab.open(url, **screen)
    _, sections, charts = PAGES[name]
    what = f"{name}, {screen.get('width', 1280)} px"
    drawn = page.run(DRAWN)
    for c in drawn:
        check.true(f'{what}: drawn', c['colours'] > 5, c)
    if charts is not None:
        check.equal(f'{what}: charts', len(drawn), charts)
    check.equal(f'{what}: sections', page.run(
        'document.querySelectorAll("section").length'), sections)
    check.equal(f'{what}: too wide', page.run(OVERFLOW), [])
    check.true(f'{what}: a summary', len(page.run(
        'document.querySelector(".summary").textContent')) > 40)
    check.true(f'{what}: figures on top', 2 <= page.run(
        'document.querySelectorAll(".headlines dd").length') <= 4)
    check.equal(f'{what}: colours used twice', page.run(SAME_COLOURS), [])
    data = page.run(DATA)
    check.true(f'{what}: series of a chart',
               all(len(d['series']) <= 8 for d in data
                   if d['kind'] not in ('heat', 'lanes')))
    check.true(f'{what}: charts have numbers', all(
        d['spans'] if d['kind'] == 'lanes'
        else any(y is not None for s in d['series'] for y in s['y'])
        for d in data))
    check_quiet(check, page, url)
    shoot(page, shots, f"{name}-{screen.get('width', 1280)}.png")
    page.close()
    return data


# A map of cells: what is pointed at, a stretch alone, all of it again.
ZOOM = f'''(() => {{
  const f = document.querySelector(".plot[data-lanes]").closest("figure");
  const c = f.querySelector("canvas");
  const box = c.getBoundingClientRect();
  const send = (type, x, y) => c.dispatchEvent(new PointerEvent(type, {{
    clientX: box.left + x * box.width, clientY: box.top + y * box.height }}));
  const sum = () => {PIXELS}(c).reduce((a, v) => (a * 31 + v) >>> 0, 0);
  const all = sum();
  send("pointermove", 0.7, 0.5);
  const told = c.dataset.told;
  send("pointerdown", 0.5, 0.5);
  send("pointerup", 0.6, 0.5);
  send("pointerleave", 0, 0);
  const part = sum();
  c.dispatchEvent(new MouseEvent("dblclick"));
  return {{ told, zoomed: part !== all, back: sum() === all }};
}})()'''


# Lanes: what the pointer tells at each of these places, then a stretch alone
# and all of it again.
LIFE = f'''((places) => {{
  const f = document.querySelector(".plot[data-spans]").closest("figure");
  const c = f.querySelector("canvas");
  const data = JSON.parse(f.querySelector("script").textContent);
  f.scrollIntoView();
  const box = c.getBoundingClientRect();
  const send = (type, x, y) => c.dispatchEvent(new PointerEvent(type, {{
    clientX: x, clientY: y }}));
  const longest = Math.max(...data.lanes.map((l) => l.name.length));
  const left = Math.min(longest * 6.2 + 8, box.width * 0.3);
  const total = data.lanes.reduce((n, l) => n + l.rows, 0);
  const place = ([ms, row]) => [
    box.left + left + (ms - data.from) / (data.to - data.from)
      * (box.width - left),
    box.top + 22 + (row + 0.5) * (box.height - 60) / total];
  const sum = () => {PIXELS}(c).reduce((a, v) => (a * 31 + v) >>> 0, 0);
  const all = sum();
  const told = places.map((p) => {{
    delete c.dataset.told;
    send("pointermove", ...place(p));
    return c.dataset.told || "";
  }});
  send("pointerdown", ...place([10, 0]));
  send("pointerup", ...place([60, 0]));
  send("pointerleave", 0, 0);
  const part = sum();
  c.dispatchEvent(new MouseEvent("dblclick"));
  return {{ told, zoomed: part !== all, back: sum() === all }};
}})'''


def check_lanes(check, page):
    got = page.run(LIFE + '([[5, 0], [30, 0], [60, 1], [60, 2], [20, 3],'
                   ' [95, 4], [95, 0]])')
    check.equal('what is under the pointer', got['told'], [
        'worker 1, batch 1: reading', 'worker 1, batch 1: decoding',
        'queue, batch 2: ready', 'queue, batch 3: ready',
        'GPU, batch 1: waiting', f'{ATTACK}: {ATTACK}', ''])
    check.true('a stretch of lanes alone', got['zoomed'])
    check.true('all lanes again', got['back'])
    check.equal('what looks mean', page.run(
        'Array.from(document.querySelectorAll(".look"),'
        ' (i) => i.parentElement.textContent)'),
        ['reading', 'decoding', 'computing', 'ready', 'waiting', ATTACK])
    check.equal('spans as rows', page.run(
        f'{CELLS}("The life of a batch", 3)')[:3],
        ['reading', 'waiting', 'decoding'])


# Without colours: in a tile of each span, which pixels are dark for it. Tiles
# repeat, so the dark ones of its rows and of its columns tell textures apart,
# wherever it lies.
GREY = f'''(() => {{
  const c = document.querySelector(".plot[data-spans] canvas");
  const data = JSON.parse(
    c.closest("figure").querySelector("script").textContent);
  const pixels = {PIXELS}(c);
  const longest = Math.max(...data.lanes.map((l) => l.name.length));
  const left = Math.min(longest * 6.2 + 8, c.width * 0.3);
  const total = data.lanes.reduce((n, l) => n + l.rows, 0);
  const high = (c.height - 60) / total;
  const grey = (v) => (v & 255) * 3 + (v >> 8 & 255) * 6 + (v >> 16 & 255);
  return data.spans.map(([from, , row, , look]) => {{
    const y = Math.round(22 + row * high + high / 2) - 8;
    const x = Math.round(left + (from - data.from) / (data.to - data.from)
      * (c.width - left)) + 4;
    const at = (i, k) => grey(pixels[(y + i) * c.width + x + k]);
    const rows = Array.from({{ length: 16 }}, (_, i) =>
      Array.from({{ length: 8 }}, (_, k) => at(i, k)));
    const all = rows.flat();
    const low = Math.min(...all), span = Math.max(...all) - low;
    const dark = rows.map((r) => r.map((v) =>
      span > 100 && v < low + span / 2 ? 1 : 0));
    const sum = (list) => list.reduce((n, v) => n + v, 0);
    return [look, dark.map(sum).sort().join("") + "/"
      + Array.from({{ length: 8 }}, (_, k) => sum(dark.map((r) => r[k])))
        .sort().join(" ")];
  }});
}})()'''


def check_grey(check, page):
    """Every look has a texture of its own."""
    looks = {}
    for look, seen in page.run(GREY):
        looks.setdefault(look, set()).add(seen)
    check.equal('looks', len(looks), 6)
    for a in looks:
        for b in looks:
            check.true('looks differ without colours',
                       a == b or not looks[a] & looks[b],
                       (a, b, looks[a] & looks[b]))


def check_trace(check, tab, url):
    page = tab.open(url)
    page.run(DRAWN)
    got = page.run(ZOOM)
    check.true('what is under the pointer',
               re.match(r'worker \d+', got['told'] or ''), got)
    check.true('a stretch is shown alone', got['zoomed'])
    check.true('all is shown again', got['back'])
    check.equal('elements from names', page.run(
        'document.querySelectorAll("img, main script:not([type])").length'), 0)
    check_quiet(check, page, url)
    page.close()
    size = os.path.getsize(url.removeprefix('file://'))
    check.true('a page of a trace is small', size < 1 << 20, size)


def check_records(check, tab, weir, maker, folder, shots):
    for name in PAGES:
        url = make_page(weir, maker, name, folder)
        data = check_record(check, tab, url, shots, name)
        if name != 'train':
            check_record(check, tab, url, shots, name, width=390, height=800,
                         dark=True, mobile=True)
        if name == 'trace':
            check_trace(check, tab, url)
        if name == 'study':
            roles = {s.get('role') for d in data for s in d['series']}
            check.equal('roles', roles, {None, 'reference', 'ceiling'})
            check.true('bands', any(d.get('bands') for d in data))
            check.true('whiskers', any(s.get('low') for d in data
                                       for s in d['series']))


def dump(program, what, folder):
    path = os.path.join(folder, what + '.html')
    with open(path, 'wb') as f:
        code = subprocess.run([program, what], stdout=f, check=False).returncode
    if code == 77:
        print('skip: weir was built without pages')
        sys.exit(77)
    if code:
        print(f'FAIL page-dump {what} exited with {code}')
        sys.exit(1)
    return 'file://' + path


def main(program, weir, maker, shots=None):
    check = Checks()
    if not browser.find():
        print('skip: there is no chromium')
        return 77
    with tempfile.TemporaryDirectory(prefix='weir-page-') as folder:
        full = dump(program, 'full', folder)
        empty = dump(program, 'empty', folder)
        with browser.Browser() as tab:
            check_wide(check, tab, full, shots)
            check_screen(check, tab, full, shots, 'dark', dark=True)
            check_screen(check, tab, full, shots, 'phone', width=360,
                         height=740, mobile=True)
            check_empty(check, tab, empty)
            check_records(check, tab, weir, maker, folder, shots)
    print('FAILED' if check.failed else 'ok')
    return 1 if check.failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
