/* lanes.js - the life of a batch: spans in lanes over time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every look has a texture of its own, so that none needs its colour. */
const weirLanes = (function () {
  "use strict";

  const GAP_PX = 3; // between rows
  const NUMBER_PX = 3; // beside a number
  const TILE_PX = 8; // of a texture

  // Colours of looks: numbers of series, or a name of the theme.
  const COLOURS = [0, 1, 2, "soft", "mark", 3];
  const [DOTTED, STRIPED, SOLID, THIN, HATCHED, CROSSED] = [0, 1, 2, 3, 4, 5];
  const SHADES = [0.16, 0.22, 0.62, 0.06, 0.06, 0.16]; // below the texture

  function colourOf(look, t) {
    return typeof COLOURS[look] === "number" ? t.series[COLOURS[look]]
      : t[COLOURS[look]];
  }

  // Lines from edge to edge, so that tiles meet.
  function strokes(g, look) {
    const end = TILE_PX;
    g.lineWidth = look === HATCHED ? 1.7 : 1.2;
    g.beginPath();
    if (look === STRIPED)
      for (let at = 1; at < end; at += 4) {
        g.moveTo(0, at);
        g.lineTo(end, at);
      }
    for (let at = -end; at <= end; at += end) {
      if (look === HATCHED || look === CROSSED) {
        g.moveTo(at - 1, end + 1);
        g.lineTo(at + end + 1, -1);
      }
      if (look === CROSSED) {
        g.moveTo(at - 1, -1);
        g.lineTo(at + end + 1, end + 1);
      }
    }
    g.stroke();
  }

  function texture(look, t) {
    const c = document.createElement("canvas");
    c.width = c.height = TILE_PX;
    const g = c.getContext("2d");
    g.fillStyle = t.raised;
    g.fillRect(0, 0, TILE_PX, TILE_PX);
    g.fillStyle = g.strokeStyle = colourOf(look, t);
    g.globalAlpha = SHADES[look];
    g.fillRect(0, 0, TILE_PX, TILE_PX);
    g.globalAlpha = 0.75;
    strokes(g, look);
    if (look === DOTTED)
      for (const [x, y] of [[1, 1], [5, 5]])
        g.fillRect(x, y, 2, 2);
    return g.createPattern(c, "repeat");
  }

  // `words`: numbers as the page writes them, x(v) and tick(v).
  return function lanes(canvas, data, theme, words) {
    const fills = data.looks.map((_, k) => texture(k, theme));
    const spans = data.spans.map(([from, to, row, lane, look, number]) =>
      ({ from, to, row, lane, look, number }));

    // Rows of every other lane lie on a band.
    function drawLanes(g, size) {
      let row = 0;
      data.lanes.forEach((l, i) => {
        g.fillStyle = theme.band;
        if (i % 2 === 0)
          g.fillRect(size.left, size.top + row * size.row,
            size.width - size.left, l.rows * size.row);
        row += l.rows;
      });
    }

    function drawSpan(g, { size, toPx }, s) {
      const from = Math.max(size.left, toPx(s.from));
      const to = Math.min(size.width, Math.max(toPx(s.to), toPx(s.from) + 1));
      const height = Math.max(2, size.row - (size.row > 8 ? GAP_PX : 0));
      const y = size.top + s.row * size.row + (size.row - height) / 2;
      const thin = s.look === THIN ? height / 4 : 0;
      if (to <= from)
        return;
      g.fillStyle = fills[s.look];
      g.fillRect(from, y + thin, to - from, height - 2 * thin);
      g.strokeStyle = colourOf(s.look, theme);
      g.lineWidth = 1;
      if (to - from > 2.5)
        g.strokeRect(from + 0.5, y + thin + 0.5, to - from - 1,
          height - 2 * thin - 1);
      drawNumber(g, s, from, to, y + height / 2, height);
    }

    function drawNumber(g, s, from, to, middle, height) {
      const text = s.number === null ? "" : String(s.number);
      const width = g.measureText(text).width;
      if (!text || height < 12 || width + 4 * NUMBER_PX > to - from)
        return;
      g.fillStyle = theme.raised;
      g.globalAlpha = s.look === SOLID ? 0 : 0.85;
      g.fillRect((from + to - width) / 2 - NUMBER_PX, middle - 6,
        width + 2 * NUMBER_PX, 12);
      g.globalAlpha = 1;
      g.fillStyle = theme.ink;
      g.fillText(text, (from + to) / 2, middle + 0.5);
    }

    function paint(g, frame) {
      drawLanes(g, frame.size);
      g.textAlign = "center";
      g.textBaseline = "middle";
      for (const s of spans)
        if (s.to >= frame.shown.from && s.from <= frame.shown.to)
          drawSpan(g, frame, s);
    }

    // The last one that was drawn there is the one that is seen.
    function tell(row, x) {
      const s = spans.findLast((e) => e.row === row && e.from <= x && x < e.to);
      if (!s)
        return null;
      const name = data.lanes[s.lane].name;
      const number = s.number === null || !data.thing ? ""
        : ", " + data.thing + " " + s.number;
      return { told: name + number + ": " + data.looks[s.look],
        text: name + number + ": " + data.looks[s.look] + ", "
          + words.x(s.from) + " to " + words.x(s.to) + " ("
          + words.x(s.to - s.from) + ")" };
    }

    return weirFrame(canvas, {
      names: data.lanes, from: data.from, to: data.to, x: data.x, tell, paint,
    }, theme, words.tick);
  };
})();
