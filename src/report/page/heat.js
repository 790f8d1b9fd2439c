/* heat.js - maps of cells: a row a series, colour for the value.
 * SPDX-License-Identifier: Apache-2.0 */
const weirHeat = (function () {
  "use strict";

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

  // `words`: numbers as the page writes them, value(v), x(v) and tick(v).
  return function heat(canvas, data, theme, words) {
    const rows = rowsOf(data.series);
    const all = extent(rows);
    const most = Math.max(data.most || 0, all.most) || 1;
    const shade = (v) => data.logY ? Math.log1p(v) / Math.log1p(most) : v / most;

    function drawRow(g, { size, shown, toPx }, r, i) {
      const y = size.top + i * size.row;
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

    function tell(i, x) {
      const r = rows[i];
      const k = cellAt(r, x);
      return k < 0 ? null : { told: r.name, text: r.name + ", "
        + words.x(r.x[k]) + ": "
        + (r.y[k] === null ? "nothing" : words.value(r.y[k])) };
    }

    return weirFrame(canvas, {
      names: rows.map((r) => ({ name: r.name, rows: 1 })),
      from: all.from, to: all.to, x: data.x, bands: data.bands, tell,
      paint: (g, frame) => rows.forEach((r, i) => drawRow(g, frame, r, i)),
    }, theme, words.tick);
  };
})();
