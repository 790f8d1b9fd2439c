/* page.js - draws the charts of a report and sorts its tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A chart is drawn when it comes near the window, one a frame, and given up
 * again when there are many: a report may have hundreds. Its data stand beside
 * it as JSON and are parsed only then. */
(function () {
  "use strict";

  const COLOURS = 8; // --c0 to --c7; only parts of a stack can be more
  const SHAPES = ["circle", "rect", "rectRot", "crossRot", "star", "rectRounded"];
  const FILLED = 3; // of them; of clouds only these
  const MARK = "triangle"; // no series has this shape
  const LIVE_MAX = 40; // charts that are kept when out of sight
  const ROW_PX = 20; // of a bar that lies
  const LYING_MIN_PX = 180;
  const LANE_PX = 14; // of a row of a map
  const SPAN_PX = 24; // of a row of lanes with spans
  const LANES_MAX_PX = 900;
  const BAR_PX = 44; // of a bar, at most
  const EDGE_PX = 8; // that a point may stand out of its chart
  const LETTER_PX = 6.5;
  const NAMES_PART = 0.45; // of a chart's width that labels may take
  const TICKS_MAX = 12; // points on x that each get a tick
  const BAND_ROOM = 1.12; // of the highest value, for the names of bands
  const SHARP_MAX = 60; // charts that are printed at twice the points

  const root = document.documentElement;
  const figures = Array.from(document.querySelectorAll("figure"))
    .filter((f) => f.querySelector("canvas"));
  const live = new Map(); // figure -> its Chart
  const near = new Set(); // figures near the window
  const waiting = []; // figures to be drawn
  let printing = false;

  // --- numbers ---

  const digits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

  function scaled(v, base, names) {
    let i = 0;
    let size = Math.abs(v);
    while (size >= base && i < names.length - 1) {
      size /= base;
      i++;
    }
    return digits.format(v / base ** i) + names[i];
  }

  // The unit in "batch wait (ms)" is ms, in "MB/s" all of it.
  function unitOf(axis) {
    const inside = /\(([^()]+)\)\s*$/.exec(axis);
    if (inside)
      return inside[1];
    return /^\S{1,10}$/.test(axis) && /[/%]/.test(axis) ? axis : "";
  }

  // `most` is the largest on the same axis: all of them look alike.
  function tickText(v, unit, most) {
    if (unit === "bytes" || unit === "B")
      return scaled(v, 1024, ["", " Ki", " Mi", " Gi", " Ti", " Pi"]);
    if (v !== 0 && Math.abs(v) < 1e-4)
      return v.toExponential();
    return most >= 1e4 ? scaled(v, 1000, ["", "k", "M", "G", "T", "P"])
      : digits.format(v);
  }

  function valueText(v, unit) {
    const size = Math.abs(v);
    const text = size !== 0 && size < 1e-4 ? v.toExponential(3)
      : size >= 1e4 ? whole.format(v) : digits.format(v);
    return unit === "%" ? text + " %" : unit ? text + " " + unit : text;
  }

  // --- the parts of a chart ---

  function switchedOff(figure) {
    const buttons = figure.querySelectorAll("[data-sets][aria-pressed=false]");
    return new Set(Array.from(buttons)
      .flatMap((b) => b.dataset.sets.split(" ").map(Number)));
  }

  function theme() {
    const style = getComputedStyle(root);
    const of = (name) => style.getPropertyValue(name).trim();
    return {
      ink: of("--ink"), soft: of("--soft"), grid: of("--grid"),
      raised: of("--raised"), line: of("--line"), mark: of("--mark"),
      faint: of("--faint"), band: of("--band"),
      series: Array.from({ length: COLOURS }, (_, i) => of("--c" + i)),
    };
  }

  function isBars(data) {
    return data.kind === "bars" || data.kind === "stacked";
  }

  // Columns to the points that Chart.js takes without parsing. A series
  // without x has that of the series before.
  function points(series) {
    let x = [];
    return series.map((s) => {
      x = s.x || x;
      return s.y.map((y, i) => ({ x: x[i], y: y === null ? NaN : y }));
    });
  }

  // Dots on a logarithmic axis, where a bar would have no zero to stand on.
  function dotSet(s, i, colour) {
    return {
      type: "line", label: s.name, data: s.y, showLine: false,
      low: s.low, high: s.high, pointStyle: SHAPES[i % FILLED],
      pointRadius: 5, pointHoverRadius: 6, pointHitRadius: 8,
      backgroundColor: colour, borderColor: colour, borderWidth: 0,
      clip: EDGE_PX,
    };
  }

  // So much of a label's room that its bars stand side by side.
  function groupPart(figure, data) {
    const plot = figure.querySelector(".plot");
    const room = figure.classList.contains("lying") ? plot.clientHeight - 60
      : plot.clientWidth - 60;
    const bars = data.kind === "stacked" ? 1
      : data.series.filter((s) => s.role !== "ceiling").length;
    return Math.min(0.78, BAR_PX * bars
      / Math.max(1, room / Math.max(1, data.labels.length)));
  }

  function barSet(s, fill, edge) {
    return {
      label: s.name, data: s.y, low: s.low, high: s.high,
      backgroundColor: fill, borderRadius: 2, borderColor: edge,
      borderWidth: edge ? 1 : 0, maxBarThickness: BAR_PX,
      barPercentage: 0.92, skipNull: true,
    };
  }

  // Measured, what others state, what is possible. `i`: among its like.
  function valueSet(data, s, i, lying, t) {
    const colour = t.series[i % COLOURS];
    if (s.role === "ceiling")
      return weirMarks.ceilingSet(s, t, lying);
    if (s.role === "reference" && !data.logY)
      return barSet(s, weirMarks.hatch(t, i), t.soft);
    if (data.logY)
      return dotSet(s, i, s.role === "reference" ? t.soft : colour);
    return barSet(s, i < COLOURS ? colour : weirMarks.hatch(
      { raised: t.raised, soft: colour }, i), "");
  }

  function lineSet(s, i, colour, data, area, t) {
    const shape = SHAPES[i % SHAPES.length];
    const radius = data.length <= 64 && !area ? 3 : 0;
    const marked = new Set(s.marked || []);
    const each = (mark, other) => !marked.size ? other
      : data.map((_, k) => marked.has(k) ? mark : other);
    return {
      label: s.name, data, borderColor: colour, backgroundColor: colour + "38",
      fill: area ? "origin" : false, borderWidth: area ? 1.4 : 2,
      borderDash: s.role === "reference" ? [6, 4] : [],
      pointStyle: each(MARK, shape), pointRadius: each(7, radius),
      pointBackgroundColor: each(t.mark, colour), pointHitRadius: 8,
      pointHoverRadius: 5,
      clip: EDGE_PX,
    };
  }

  // The marked points are a set of their own, of another shape and colour.
  function pointSets(s, i, colour, data, t) {
    const marked = new Set(s.marked || []);
    const plain = {
      label: s.name, data: data.filter((_, k) => !marked.has(k)),
      showLine: false, pointStyle: SHAPES[i % FILLED],
      backgroundColor: colour + (data.length > 200 ? "90" : "e0"),
      borderWidth: 0,
      pointRadius: data.length > 1000 ? 1.6 : data.length > 200 ? 2.4 : 3.8,
      pointHoverRadius: 5,
      clip: EDGE_PX,
    };
    if (!marked.size)
      return [plain];
    return [plain, {
      label: s.name ? s.name + ", marked" : "marked",
      data: data.filter((_, k) => marked.has(k)), showLine: false,
      pointStyle: MARK, backgroundColor: t.mark, borderColor: colour,
      borderWidth: 1, pointRadius: 5.5, pointHoverRadius: 7, order: -1,
      clip: EDGE_PX,
    }];
  }

  function dataSets(data, lying, t) {
    const sets = isBars(data) ? [] : points(data.series);
    const alike = {}; // series of each role so far
    return data.series.flatMap((s, k) => {
      const role = s.role || "measured";
      const i = alike[role] = role in alike ? alike[role] + 1 : 0;
      const colour = role === "reference" ? t.soft : t.series[i % COLOURS];
      if (isBars(data))
        return valueSet(data, s, i, lying, t);
      if (data.kind === "points")
        return pointSets(s, i, colour, sets[k], t);
      return lineSet(s, i, colour, sets[k], data.kind === "area", t);
    });
  }

  // On a logarithmic axis with few points each gets a tick (1, 2, 4, 8...).
  function ownTicks(sets) {
    const xs = new Set();
    for (const s of sets)
      for (const p of s.data) {
        xs.add(p.x);
        if (xs.size > TICKS_MAX)
          return null;
      }
    return Array.from(xs).sort((a, b) => a - b);
  }

  // An axis ends where its data end; what begins near zero begins at zero.
  function extent(sets, log, bands) {
    let min = Infinity;
    let max = -Infinity;
    for (const b of bands || []) {
      min = Math.min(min, b.from);
      max = Math.max(max, b.to);
    }
    for (const s of sets)
      for (const p of s.data) {
        min = Math.min(min, p.x);
        max = Math.max(max, p.x);
      }
    if (!(min < max))
      return {};
    return { min: !log && min > 0 && min < max / 4 ? 0 : min, max };
  }

  function cut(text, letters) {
    return text.length <= letters ? text
      : text.slice(0, Math.max(1, letters - 1)) + "\u2026";
  }

  // A label beside its bar, on two lines when it is long.
  function wrapped(text, width) {
    const letters = Math.floor(width * NAMES_PART / LETTER_PX);
    if (text.length <= letters)
      return text;
    const at = text.lastIndexOf(" ", letters);
    return at <= 0 ? cut(text, letters)
      : [text.slice(0, at), cut(text.slice(at + 1), letters)];
  }

  function axis(name, log, t) {
    const unit = unitOf(name);
    return {
      type: log ? "logarithmic" : "linear",
      title: { display: name !== "", text: cut(name, 60), color: t.soft },
      grid: { color: t.grid, borderColor: t.line, tickColor: t.line,
        tickLength: 5 },
      ticks: {
        color: t.soft, maxRotation: 0, autoSkipPadding: 14,
        callback(v, i, ticks) {
          // Of a logarithmic axis 1, 2 and 5, and with many decades 1 alone.
          const lead = log && !this.weirOwn
            ? Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9)) : 1;
          const wide = ticks.length > 30;
          if (lead !== 1 && (wide || (lead !== 2 && lead !== 5)))
            return null;
          return tickText(v, unit, Math.max(Math.abs(ticks[0].value),
            Math.abs(ticks[ticks.length - 1].value)));
        },
      },
    };
  }

  function maxOf(values) {
    return values.reduce((m, v) => Math.max(m, v === null ? 0 : v), 0);
  }

  // Lines that come near zero show how near.
  function nearZero(series) {
    const all = series.flatMap((s) => s.y).filter((v) => v !== null);
    const min = all.reduce((m, v) => Math.min(m, v), Infinity);
    return min >= 0 && min < maxOf(all) / 3;
  }

  function scalesOf(data, sets, lying, t) {
    const value = axis(data.y, data.logY, t);
    value.beginAtZero = data.kind !== "lines" || nearZero(data.series);
    value.suggestedMax = Math.max(data.most || 0,
      weirMarks.highest(data.series)) || undefined;
    if (data.bands && !data.logY) // room for their names
      value.suggestedMax = BAND_ROOM * Math.max(data.most || 0,
        ...data.series.map((s) => maxOf(s.y)));
    if (data.logY && isFinite(weirMarks.lowest(data.series)))
      value.suggestedMin = weirMarks.lowest(data.series);
    if (!isBars(data)) {
      const x = axis(data.x, data.logX, t);
      const own = data.logX ? ownTicks(sets) : null;
      Object.assign(x, extent(sets, data.logX, data.bands));
      x.ticks.includeBounds = false;
      if (own) {
        x.afterBuildTicks = (scale) => {
          scale.weirOwn = true;
          scale.ticks = own.map((v) => ({ value: v }));
        };
      }
      return { x, y: value };
    }
    const label = axis(data.x, false, t);
    label.type = "category";
    label.grid.display = data.logY === true;
    label.offset = true;
    label.ticks = {
      color: t.soft, maxRotation: lying ? 0 : 40, autoSkip: !lying,
      callback(v) {
        const name = this.getLabelForValue(v);
        return lying ? wrapped(name, this.chart.width) : cut(name, 24);
      },
    };
    value.stacked = label.stacked = data.kind === "stacked";
    return lying ? { x: value, y: label } : { x: label, y: value };
  }

  function rangeText(item) {
    const { low, high } = item.dataset;
    const k = item.dataIndex;
    return !low || low[k] === null || high[k] === null ? ""
      : " (" + valueText(low[k], "") + " to " + valueText(high[k], "") + ")";
  }

  function tooltip(data, lying) {
    const xUnit = unitOf(data.x);
    const yUnit = unitOf(data.y);
    return {
      boxPadding: 4,
      padding: 8,
      callbacks: {
        title: (items) => !items.length ? "" : isBars(data)
          ? (data.x ? data.x + ": " : "") + data.labels[items[0].dataIndex]
          : data.x.replace(/\s*\([^()]*\)\s*$/, "") + ": "
            + valueText(items[0].parsed.x, xUnit),
        label: (item) => (item.dataset.label ? item.dataset.label + ": " : "")
          + valueText(lying ? item.parsed.x : item.parsed.y, yUnit)
          + rangeText(item),
      },
    };
  }

  function config(figure, data) {
    const t = theme();
    const lying = figure.classList.contains("lying");
    const sets = dataSets(data, lying, t);
    const bars = isBars(data);
    const off = switchedOff(figure);
    const part = bars ? groupPart(figure, data) : 0;
    sets.forEach((s, i) => {
      s.hidden = off.has(i);
      if (bars)
        s.categoryPercentage = part;
    });
    return {
      plugins: weirMarks.plugins,
      type: bars ? "bar" : data.kind === "points" ? "scatter" : "line",
      data: bars ? { labels: data.labels, datasets: sets } : { datasets: sets },
      options: {
        animation: false, maintainAspectRatio: false,
        parsing: bars ? undefined : false,
        normalized: !bars && data.sorted === true,
        indexAxis: lying ? "y" : "x",
        interaction: data.kind === "points"
          ? { mode: "nearest", intersect: true }
          : { mode: bars ? "index" : "nearest", axis: lying ? "y" : "x",
            intersect: false },
        scales: scalesOf(data, sets, lying, t),
        layout: { padding: { top: 4, right: 6 } },
        plugins: {
          legend: { display: false }, tooltip: tooltip(data, lying),
          "weir-whiskers": { colour: t.ink },
          "weir-bands": { list: data.bands || [], colour: t.soft,
            shade: t.band, other: "transparent" },
        },
        devicePixelRatio: !printing ? undefined
          : figures.length > SHARP_MAX ? 1 : 2,
      },
    };
  }

  function heatWords(data) {
    return {
      x: (v) => valueText(v, unitOf(data.x)),
      value: (v) => valueText(v, unitOf(data.y)) + (unitOf(data.y) ? ""
        : " " + data.y),
      tick: (v) => digits.format(v),
    };
  }

  // --- drawing when needed ---

  function draw(figure) {
    if (live.has(figure))
      return;
    const data = JSON.parse(
      figure.querySelector("script[type='application/json']").textContent);
    const canvas = figure.querySelector("canvas");
    live.set(figure, data.kind === "heat"
      ? weirHeat(canvas, data, theme(), heatWords(data))
      : data.kind === "lanes"
        ? weirLanes(canvas, data, theme(), heatWords(data))
        : new Chart(canvas, config(figure, data)));
    figure.dataset.drawn = "";
  }

  function erase(figure) {
    const chart = live.get(figure);
    if (!chart)
      return;
    chart.destroy();
    live.delete(figure);
    delete figure.dataset.drawn;
    const canvas = figure.querySelector("canvas");
    canvas.width = canvas.height = 0; // its memory is worth a chart
  }

  function drawNext() {
    let figure = waiting.shift();
    while (figure && !near.has(figure))
      figure = waiting.shift();
    if (figure)
      draw(figure);
    if (waiting.length)
      setTimeout(drawNext);
    else
      ready();
  }

  // What is in sight is drawn; the rest is, too, when there is nothing to do.
  function ready() {
    if (performance.getEntriesByName("weir-ready").length)
      return;
    performance.mark("weir-ready", { detail: live.size });
    whenIdle(drawIdle);
  }

  function whenIdle(f) {
    if (window.requestIdleCallback)
      requestIdleCallback(f);
    else
      setTimeout(f, 50);
  }

  function drawIdle() {
    const figure = figures.find((f) => !live.has(f));
    if (!figure || live.size >= LIVE_MAX)
      return;
    draw(figure);
    whenIdle(drawIdle);
  }

  function seen(entries) {
    const idle = !waiting.length;
    for (const e of entries) {
      if (e.isIntersecting) {
        near.add(e.target);
        waiting.push(e.target);
      } else {
        near.delete(e.target);
        if (live.size > LIVE_MAX && !printing)
          erase(e.target);
      }
    }
    if (idle)
      drawNext();
  }

  function redraw() {
    for (const figure of Array.from(live.keys())) {
      erase(figure);
      if (near.has(figure))
        draw(figure);
    }
  }

  // --- legends, tables, contents ---

  // A button of a legend stands for one or more sets of a chart; a set is
  // shown when all its buttons are pressed.
  function switchSeries(button) {
    const figure = button.closest("figure");
    const chart = live.get(figure);
    button.setAttribute("aria-pressed",
      String(button.getAttribute("aria-pressed") === "false"));
    if (!chart)
      return;
    const off = switchedOff(figure);
    chart.data.datasets.forEach((_, i) => {
      chart.setDatasetVisibility(i, !off.has(i));
    });
    chart.update("none");
  }

  const UNITS = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10,
    Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, n: 1e-9, u: 1e-6, "µ": 1e-6, m: 1e-3 };

  // "1,234.5", "4 KiB", "1.2 GB/s", "3 ms", "85 %"; NaN for what is none.
  function number(text) {
    const m = /^([-+−]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(\S*)/i.exec(text);
    if (!m)
      return NaN;
    const unit = /^([KMGT]i?|[kmunµ])(?=B|s$|s\b|$)/.exec(m[2]);
    return Number(m[1].replace(/,/g, "").replace("−", "-"))
      * (unit ? UNITS[unit[1]] : 1);
  }

  function compare(a, b) {
    if (a.blank || b.blank) // always last
      return 0;
    if (!isNaN(a.number) && !isNaN(b.number))
      return a.number - b.number;
    return a.text.localeCompare(b.text, "en", { numeric: true });
  }

  function sort(button) {
    const th = button.closest("th");
    const table = th.closest("table");
    const down = th.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row) => {
      const text = row.cells[th.cellIndex].textContent.trim();
      return { row, text, number: number(text),
        blank: text === "" || text === "-" };
    });
    rows.sort((a, b) => (a.blank - b.blank)
      || (down ? compare(b, a) : compare(a, b)));
    for (const other of table.querySelectorAll("th[aria-sort]"))
      other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map((r) => r.row));
  }

  function clicked(e) {
    const button = e.target.closest("button");
    if (!button)
      return;
    if (button.id === "theme")
      root.dispatchEvent(new Event("weir-toggle"));
    else if (button.dataset.sets)
      switchSeries(button);
    else if (button.closest("thead"))
      sort(button);
  }

  function nameToggle() {
    const button = document.getElementById("theme");
    button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
    button.title = button.textContent + " colours";
  }

  // The section at the top of the window stands out in the contents.
  function followSections() {
    const links = new Map(Array.from(document.querySelectorAll(".toc a"),
      (a) => [a.getAttribute("href").slice(1), a]));
    let current = null;
    if (!links.size)
      return; // a page of one section has no contents
    const watch = new IntersectionObserver((entries) => {
      const top = entries.find((e) => e.isIntersecting);
      if (!top)
        return;
      if (current)
        current.removeAttribute("aria-current");
      current = links.get(top.target.id);
      current.setAttribute("aria-current", "true");
    }, { rootMargin: "-15% 0px -80% 0px" });
    document.querySelectorAll("section").forEach((s) => watch.observe(s));
  }

  // --- paper ---

  let before = null; // what printing changed

  function toPaper() {
    before = { theme: root.dataset.theme, opened: [] };
    printing = true;
    root.dataset.theme = "light";
    for (const d of document.querySelectorAll("figure details:not([open])")) {
      d.open = true;
      before.opened.push(d);
    }
    for (const figure of figures) {
      erase(figure);
      draw(figure);
    }
  }

  function fromPaper() {
    if (!before)
      return;
    printing = false;
    root.dataset.theme = before.theme;
    before.opened.forEach((d) => { d.open = false; });
    before = null;
    redraw();
  }

  // --- begin ---

  Chart.defaults.font.family = getComputedStyle(root).fontFamily;
  Chart.defaults.font.size = 12;
  for (const figure of document.querySelectorAll("figure.lying")) {
    const plot = figure.querySelector(".plot");
    plot.style.height =
      Math.max(LYING_MIN_PX, 70 + ROW_PX * Number(plot.dataset.rows)) + "px";
  }
  for (const plot of document.querySelectorAll(".plot[data-lanes]"))
    plot.style.height = Math.min(LANES_MAX_PX, Math.max(LYING_MIN_PX,
      80 + LANE_PX * Number(plot.dataset.lanes))) + "px";
  for (const plot of document.querySelectorAll(".plot[data-spans]"))
    plot.style.height = Math.min(LANES_MAX_PX,
      64 + SPAN_PX * Number(plot.dataset.spans)) + "px";
  if (matchMedia("(max-width: 64rem)").matches)
    document.querySelectorAll(".toc details").forEach((d) => {
      d.open = d.querySelectorAll("a").length <= 6;
    });
  nameToggle();
  root.addEventListener("weir-theme", nameToggle);
  root.addEventListener("weir-theme", redraw);
  document.addEventListener("click", clicked);
  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", fromPaper);
  followSections();
  const watch = new IntersectionObserver(seen, { rootMargin: "300px 0px" });
  figures.forEach((f) => watch.observe(f));
  if (!figures.length)
    ready();
})();
