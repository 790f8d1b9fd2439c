/* heat.js - maps of cells: a row a series, colour for the value.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stretch that is dragged over is shown alone, a double click shows all. The
 * line above the map says what is under the pointer. */
const weirHeat = (function () {
  "use strict";

  const TOP_PX = 22; // the line of words
  const BOTTOM_PX = 38; // numbers and name of the axis
  const NAMES_PART = 0.3; // of the width, at most
  const LETTER_PX = 6.2;
  const DRAG_PX = 4; // less is a click
  const TICKS = 8;

  // 1, 2 or 5 of a power of ten.
  function tickStep(range) {
    const raw = range / TICKS;
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].find((f) => f * power >= raw) * power;
  }

  function rowsOf(series) {
    let x = [];
    return series.map((s) => {
      x = s.x || x;
      return { name: s.name, x, y: s.y };
    });
  }

  function extent(rows) {
    let [from, to, most] = [Infinity, -Infinity, 0];
    for (const r of rows) {
      const n = r.x.length;
      from = Math.min(from, n ? r.x[0] : from);
      to = Math.max(to, n ? r.x[n - 1] + (n > 1 ? r.x[n - 1] - r.x[n - 2] : 1)
        : to);
      most = r.y.reduce((m, v) => Math.max(m, v === null ? 0 : v), most);
    }
    return { from, to, most };
  }

  function endOf(r, k) {
    const n = r.x.length;
    return k + 1 < n ? r.x[k + 1] : n > 1 ? 2 * r.x[k] - r.x[k - 1] : r.x[k] + 1;
  }

  // The last cell that begins at x or before it.
  function cellAt(r, x) {
    let [low, high] = [0, r.x.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (r.x[middle] <= x)
        low = middle + 1;
      else
        high = middle;
    }
    return low - 1;
  }

  // `words`: numbers as the page writes them, value(v) and x(v).
  return function heat(canvas, data, theme, words) {
    const rows = rowsOf(data.series);
    const all = extent(rows);
    const most = Math.max(data.most || 0, all.most) || 1;
    const shown = { from: all.from, to: all.to };
    const g = canvas.getContext("2d");
    let size = { width: 0, height: 0, left: 0, row: 0 };
    let pointer = null; // where it is
    let drag = null; // where it went down

    const shade = (v) => data.logY ? Math.log1p(v) / Math.log1p(most) : v / most;
    const toPx = (x) => size.left + (x - shown.from)
      / (shown.to - shown.from) * (size.width - size.left);
    const toX = (px) => shown.from + Math.min(1, Math.max(0, (px - size.left)
      / (size.width - size.left))) * (shown.to - shown.from);

    function measure() {
      const ratio = window.devicePixelRatio || 1;
      const box = canvas.parentElement;
      const longest = rows.reduce((m, r) => Math.max(m, r.name.length), 0);
      size.width = box.clientWidth;
      size.height = box.clientHeight;
      size.left = Math.min(longest * LETTER_PX + 8, size.width * NAMES_PART);
      size.row = (size.height - TOP_PX - BOTTOM_PX) / Math.max(1, rows.length);
      canvas.width = Math.round(size.width * ratio);
      canvas.height = Math.round(size.height * ratio);
      canvas.style.width = size.width + "px";
      canvas.style.height = size.height + "px";
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    function drawRow(r, i) {
      const y = TOP_PX + i * size.row;
      const height = Math.max(1, size.row - (size.row > 6 ? 1.5 : 0));
      for (let k = Math.max(0, cellAt(r, shown.from)); k < r.x.length
        && r.x[k] < shown.to; k++) {
        if (r.y[k] === null)
          continue;
        const from = Math.max(size.left, toPx(r.x[k]));
        const width = Math.min(size.width, toPx(endOf(r, k))) - from + 0.3;
        g.globalAlpha = 1;
        g.fillStyle = theme.band;
        g.fillRect(from, y, width, height);
        if (r.y[k] <= 0)
          continue;
        g.globalAlpha = 0.15 + 0.85 * Math.min(1, shade(r.y[k]));
        g.fillStyle = theme.series[0];
        g.fillRect(from, y, width, height);
      }
      g.globalAlpha = 1;
    }

    function drawNames() {
      const every = Math.ceil(11 / Math.max(1, size.row));
      const letters = Math.floor((size.left - 6) / LETTER_PX);
      g.fillStyle = theme.soft;
      g.textAlign = "right";
      g.textBaseline = "middle";
      for (let i = 0; i < rows.length; i += every)
        g.fillText(rows[i].name.length > letters
          ? rows[i].name.slice(0, Math.max(1, letters - 1)) + "\u2026"
          : rows[i].name, size.left - 6, TOP_PX + (i + 0.5) * size.row);
    }

    function drawAxis() {
      const step = tickStep(shown.to - shown.from);
      const bottom = size.height - BOTTOM_PX;
      g.textAlign = "center";
      g.textBaseline = "top";
      for (let k = Math.ceil(shown.from / step); k * step <= shown.to; k++) {
        const px = toPx(k * step);
        g.fillStyle = theme.line;
        g.fillRect(px, bottom, 1, 4);
        g.fillStyle = theme.soft;
        if (px < size.width - 12)
          g.fillText(words.tick(k * step), px, bottom + 6);
      }
      g.fillText(data.x, (size.left + size.width) / 2, bottom + 21);
    }

    // Where bands begin, and their names while nothing is pointed at.
    function drawBands() {
      let free = size.left;
      g.textAlign = "left";
      g.textBaseline = "middle";
      for (const b of data.bands || []) {
        const px = toPx(b.from);
        if (px < size.left || px > size.width)
          continue;
        g.fillStyle = theme.ink;
        g.globalAlpha = 0.45;
        g.fillRect(px, TOP_PX - 6, 1, size.height - TOP_PX - BOTTOM_PX + 6);
        g.globalAlpha = 1;
        if (pointer || px < free)
          continue;
        g.fillStyle = theme.soft;
        g.fillText(b.name, px + 3, TOP_PX / 2);
        free = px + g.measureText(b.name).width + 12;
      }
    }

    function drawPointer() {
      const i = Math.floor((pointer.y - TOP_PX) / size.row);
      const r = rows[i];
      const x = toX(pointer.x);
      const k = r && pointer.x >= size.left ? cellAt(r, x) : -1;
      if (drag !== null) {
        g.fillStyle = theme.mark;
        g.globalAlpha = 0.2;
        g.fillRect(Math.min(drag, pointer.x), TOP_PX,
          Math.abs(pointer.x - drag), size.height - TOP_PX - BOTTOM_PX);
        g.globalAlpha = 1;
      }
      if (k < 0)
        return;
      g.fillStyle = theme.ink;
      g.textAlign = "left";
      g.textBaseline = "middle";
      g.fillText(r.name + ", " + words.x(r.x[k]) + ": "
        + (r.y[k] === null ? "nothing" : words.value(r.y[k])),
      size.left, TOP_PX / 2);
      canvas.dataset.told = r.name;
    }

    function paint() {
      if (!size.width || !(shown.from < shown.to))
        return;
      g.clearRect(0, 0, size.width, size.height);
      g.font = "11px " + getComputedStyle(document.documentElement).fontFamily;
      rows.forEach(drawRow);
      drawNames();
      drawAxis();
      drawBands();
      if (pointer)
        drawPointer();
    }

    function resized() {
      measure();
      paint();
    }

    function moved(e) {
      const box = canvas.getBoundingClientRect();
      pointer = { x: e.clientX - box.left, y: e.clientY - box.top };
      paint();
    }

    function pressed(e) {
      moved(e);
      drag = pointer.x >= size.left ? pointer.x : null;
    }

    function released(e) {
      moved(e);
      if (drag !== null && Math.abs(pointer.x - drag) > DRAG_PX) {
        const [a, b] = [toX(drag), toX(pointer.x)];
        shown.from = Math.min(a, b);
        shown.to = Math.max(a, b);
      }
      drag = null;
      paint();
    }

    function left() {
      pointer = drag = null;
      paint();
    }

    function reset() {
      shown.from = all.from;
      shown.to = all.to;
      paint();
    }

    const listeners = { pointermove: moved, pointerdown: pressed,
      pointerup: released, pointerleave: left, dblclick: reset };
    const watch = new ResizeObserver(resized);
    for (const [name, f] of Object.entries(listeners))
      canvas.addEventListener(name, f);
    watch.observe(canvas.parentElement);
    resized();
    return {
      shown,
      destroy() {
        watch.disconnect();
        for (const [name, f] of Object.entries(listeners))
          canvas.removeEventListener(name, f);
      },
    };
  };
})();
