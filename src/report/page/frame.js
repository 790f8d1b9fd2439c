/* frame.js - rows over an axis on a canvas: what maps and lanes share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stretch that is dragged over is shown alone, a double click shows all. The
 * line above the rows says what is under the pointer. */
const weirFrame = (function () {
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

  // What a picture is made of: `names` of its lanes, each with the number of
  // `rows` that it takes; `from` and `to` of the axis, its name `x`, `bands`;
  // paint(g, frame) draws the rows; tell(row, x) says what is there: `text`,
  // and a short name of it as `told`; null: nothing.
  return function frame(canvas, picture, theme, tick) {
    const shown = { from: picture.from, to: picture.to };
    const g = canvas.getContext("2d");
    const total = picture.names.reduce((sum, n) => sum + n.rows, 0);
    const size = { width: 0, height: 0, left: 0, row: 0, top: TOP_PX };
    let pointer = null; // where it is
    let drag = null; // where it went down

    const toPx = (x) => size.left + (x - shown.from)
      / (shown.to - shown.from) * (size.width - size.left);
    const toX = (px) => shown.from + Math.min(1, Math.max(0, (px - size.left)
      / (size.width - size.left))) * (shown.to - shown.from);

    function measure() {
      const ratio = window.devicePixelRatio || 1;
      const box = canvas.parentElement;
      const longest = picture.names
        .reduce((m, n) => Math.max(m, n.name.length), 0);
      size.width = box.clientWidth;
      size.height = box.clientHeight;
      size.left = Math.min(longest * LETTER_PX + 8, size.width * NAMES_PART);
      size.row = (size.height - TOP_PX - BOTTOM_PX) / Math.max(1, total);
      canvas.width = Math.round(size.width * ratio);
      canvas.height = Math.round(size.height * ratio);
      canvas.style.width = size.width + "px";
      canvas.style.height = size.height + "px";
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    function drawNames() {
      const letters = Math.floor((size.left - 6) / LETTER_PX);
      let row = 0;
      let free = 0; // where the next name has room
      g.fillStyle = theme.soft;
      g.textAlign = "right";
      g.textBaseline = "middle";
      for (const n of picture.names) {
        const y = TOP_PX + (row + n.rows / 2) * size.row;
        row += n.rows;
        if (y < free)
          continue;
        g.fillText(n.name.length > letters
          ? n.name.slice(0, Math.max(1, letters - 1)) + "\u2026"
          : n.name, size.left - 6, y);
        free = y + 10.9;
      }
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
        if (px + g.measureText(tick(k * step)).width / 2 <= size.width)
          g.fillText(tick(k * step), px, bottom + 6);
      }
      g.fillText(picture.x, (size.left + size.width) / 2, bottom + 21);
    }

    // Where bands begin, and their names while nothing is pointed at.
    function drawBands() {
      let free = size.left;
      g.textAlign = "left";
      g.textBaseline = "middle";
      for (const b of picture.bands || []) {
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
      const row = Math.floor((pointer.y - TOP_PX) / size.row);
      const found = pointer.x < size.left || row < 0 || row >= total ? null
        : picture.tell(row, toX(pointer.x));
      if (drag !== null) {
        g.fillStyle = theme.mark;
        g.globalAlpha = 0.2;
        g.fillRect(Math.min(drag, pointer.x), TOP_PX,
          Math.abs(pointer.x - drag), size.height - TOP_PX - BOTTOM_PX);
        g.globalAlpha = 1;
      }
      if (!found)
        return;
      g.fillStyle = theme.ink;
      g.textAlign = "left";
      g.textBaseline = "middle";
      g.fillText(found.text, Math.max(0, Math.min(size.left,
        size.width - g.measureText(found.text).width - 4)), TOP_PX / 2);
      canvas.dataset.told = found.told;
    }

    function paint() {
      if (!size.width || !(shown.from < shown.to))
        return;
      g.clearRect(0, 0, size.width, size.height);
      g.font = "11px " + getComputedStyle(document.documentElement).fontFamily;
      picture.paint(g, { size, shown, toPx });
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
      shown.from = picture.from;
      shown.to = picture.to;
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
