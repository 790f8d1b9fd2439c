/* marks.js - what Chart.js does not draw: hatches, whiskers, bands, ceilings.
 * SPDX-License-Identifier: Apache-2.0 */
const weirMarks = (function () {
  "use strict";

  const HATCH_PX = 8;
  const HATCHES = 4; // that can be told from each other
  const CAP_PX = 5; // half of the line across a whisker's end, at most
  const CEILING_PART = 0.84; // of the room of a label that a ceiling takes
  const NAME_PX = 11; // a band's name

  // Lines of one direction, of the other, both, dots: in grey, on the paper.
  function hatch(t, n) {
    const c = document.createElement("canvas");
    c.width = c.height = HATCH_PX;
    const g = c.getContext("2d");
    const end = HATCH_PX;
    g.fillStyle = t.raised;
    g.fillRect(0, 0, end, end);
    g.strokeStyle = g.fillStyle = t.soft;
    g.lineWidth = 1.6;
    g.beginPath();
    for (let at = -end; at <= end; at += end) {
      if (n % HATCHES === 0 || n % HATCHES === 2) {
        g.moveTo(at - 1, end + 1);
        g.lineTo(at + end + 1, -1);
      }
      if (n % HATCHES === 1 || n % HATCHES === 2) {
        g.moveTo(at - 1, -1);
        g.lineTo(at + end + 1, end + 1);
      }
    }
    g.stroke();
    if (n % HATCHES === 3)
      g.fillRect(2, 2, 3, 3);
    return g.createPattern(c, "repeat");
  }

  function isLying(chart) {
    return chart.options.indexAxis === "y";
  }

  // Room of one label on its axis.
  function labelPx(chart) {
    const scale = chart.scales[isLying(chart) ? "y" : "x"];
    const size = scale ? (isLying(chart) ? scale.height : scale.width) : 0;
    return size / Math.max(1, chart.data.labels.length);
  }

  // A dash across all bars of a label.
  function ceilingSet(s, t, lying) {
    return {
      type: "line", label: s.name, data: s.y, showLine: false, order: -2,
      pointStyle: "line", pointRotation: lying ? 90 : 0, borderColor: t.ink,
      pointBorderColor: t.ink, pointBorderWidth: 2.5, backgroundColor: t.ink,
      pointRadius: (c) => labelPx(c.chart) * CEILING_PART / 2,
      pointHoverRadius: (c) => labelPx(c.chart) * CEILING_PART / 2,
      pointHitRadius: 0, clip: false,
    };
  }

  // The farthest that whiskers reach.
  function highest(series) {
    return Math.max(0, ...series.flatMap((s) => s.high || [])
      .filter((v) => v !== null));
  }

  function lowest(series) {
    return Math.min(Infinity, ...series.flatMap((s) => s.low || [])
      .filter((v) => v !== null && v > 0));
  }

  function whisker(g, lying, at, from, to, cap) {
    const line = (a, b, c, d) => {
      g.moveTo(lying ? b : a, lying ? a : b);
      g.lineTo(lying ? d : c, lying ? c : d);
    };
    line(at, from, at, to);
    line(at - cap, from, at + cap, from);
    line(at - cap, to, at + cap, to);
  }

  const whiskers = {
    id: "weir-whiskers",
    afterDatasetsDraw(chart, _, options) {
      const lying = isLying(chart);
      const scale = chart.scales[lying ? "x" : "y"];
      const g = chart.ctx;
      g.save();
      g.strokeStyle = options.colour;
      g.lineWidth = 1.4;
      g.beginPath();
      chart.data.datasets.forEach((set, i) => {
        if (!set.low || !chart.isDatasetVisible(i))
          return;
        chart.getDatasetMeta(i).data.forEach((bar, k) => {
          if (set.low[k] === null || set.high[k] === null
            || set.data[k] === null)
            return;
          const width = (lying ? bar.height : bar.width) || 4 * CAP_PX;
          whisker(g, lying, lying ? bar.y : bar.x,
            scale.getPixelForValue(set.low[k]),
            scale.getPixelForValue(set.high[k]), Math.min(width / 4, CAP_PX));
        });
      });
      g.stroke();
      g.restore();
    },
  };

  // Every other band is shaded; names where they have room.
  const bands = {
    id: "weir-bands",
    beforeDatasetsDraw(chart, _, options) {
      const area = chart.chartArea;
      const g = chart.ctx;
      g.save();
      g.font = NAME_PX + "px " + Chart.defaults.font.family;
      g.textBaseline = "top";
      (options.list || []).forEach((b, i) => {
        const from = Math.max(area.left, chart.scales.x.getPixelForValue(b.from));
        const to = Math.min(area.right, chart.scales.x.getPixelForValue(b.to));
        if (!(to > from))
          return;
        g.fillStyle = i % 2 ? options.other : options.shade;
        g.fillRect(from, area.top, to - from, area.bottom - area.top);
        g.fillStyle = options.colour;
        if (g.measureText(b.name).width + 6 < to - from)
          g.fillText(b.name, from + 3, area.top + 3);
      });
      g.restore();
    },
  };

  return { hatch, ceilingSet, highest, lowest, plugins: [bands, whiskers] };
})();
