// SPDX-License-Identifier: Apache-2.0
"use strict";
// What each kind of chart looks like: from what the page describes as JSON to what Chart.js draws. `ink` is a colour of
// page.css as it is now.
(() => {
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const colourOf = (line) => ink(line.colour);
  const dashes = { serial: [2, 3], tilewise: [], peer: [7, 4], limit: [1, 2.5] };
  const marks = ["circle", "rect", "triangle", "rectRot", "star", "crossRot", "cross", "dash"];

  const three = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  function scaled(value, step, units) {
    let unit = 0;
    while (unit + 1 < units.length && value >= step * 0.9995) { value /= step; unit += 1; }
    return three(value) + " " + units[unit];
  }
  const written = {
    time: (v) => scaled(v, 1000, ["ns", "µs", "ms", "s"]),
    bytes: (v) => scaled(v, 1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]),
    elements: (v) => scaled(v, 1000, ["/s", "k/s", "M/s", "G/s", "T/s"]),
    operations: (v) => scaled(v, 1000, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"]),
    ratio: (v) => "× " + three(v),
    number: three,
    share: (v) => Math.round(v * 100) + " %",
  };
  const short = (n) => scaled(n, 1000, ["", "k", "M", "G", "T"]).trim();
  const isDecade = (v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9;

  const axis = (title, more) => ({
    title: { display: true, text: title, color: ink("soft"), font: { size: 12 } },
    grid: { color: ink("line"), drawTicks: false, borderColor: ink("soft") },
    ...more,
    ticks: { color: ink("soft"), padding: 6, font: { size: 11 }, ...more.ticks },
  });
  const logarithmic = (title, write) => axis(title, {
    type: "logarithmic",
    ticks: { callback: write, maxRotation: 0, autoSkipPadding: 10 },
    afterBuildTicks: (scale) => {
      const decades = scale.ticks.filter((t) => isDecade(t.value));
      // Over less than two decades, 2 and 5 are marked too.
      const isRound = (v) => Math.abs(v / Number(v.toPrecision(1)) - 1) < 1e-9 &&
        [1, 2, 5].includes(Number(v.toPrecision(1)) / 10 ** Math.floor(Math.log10(v) + 1e-9));
      scale.ticks = decades.length > 2 ? decades : scale.ticks.filter((t) => isDecade(t.value) || isRound(t.value));
    },
  });

  // A name at the end of each line instead of a legend; names are pushed apart where they would overlap.
  const endLabels = {
    id: "endLabels",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      const height = 14;
      const labels = chart.data.datasets.map((set, i) => {
        const points = chart.getDatasetMeta(i).data;
        const last = points[points.length - 1];
        return last && set.label ? { text: set.label, colour: set.borderColor, from: last, y: last.y } : null;
      }).filter(Boolean).sort((a, b) => a.y - b.y);
      for (let i = 1; i < labels.length; i += 1) labels[i].y = Math.max(labels[i].y, labels[i - 1].y + height);
      const over = labels.length ? labels[labels.length - 1].y - (chartArea.bottom - 4) : 0;
      if (over > 0) {
        labels[labels.length - 1].y -= over;
        for (let i = labels.length - 2; i >= 0; i -= 1) labels[i].y = Math.min(labels[i].y, labels[i + 1].y - height);
      }
      ctx.save();
      ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
      ctx.textBaseline = "middle";
      for (const label of labels) {
        ctx.strokeStyle = ctx.fillStyle = label.colour;
        ctx.globalAlpha = 0.5;
        ctx.beginPath();
        ctx.moveTo(label.from.x + 6, label.from.y);
        ctx.lineTo(chartArea.right + 12, label.y);
        ctx.stroke();
        ctx.globalAlpha = 1;
        ctx.fillText(label.text, chartArea.right + 15, label.y, chart.width - chartArea.right - 16);
      }
      ctx.restore();
    },
  };
  // Whiskers from low to high.
  const whiskers = {
    id: "whiskers",
    beforeDatasetsDraw(chart) {
      const { ctx } = chart;
      chart.data.datasets.forEach((set) => (set.data || []).forEach((p) => {
        if (!(p.high > p.low)) return;
        ctx.strokeStyle = set.borderColor;
        ctx.beginPath();
        ctx.moveTo(chart.scales.x.getPixelForValue(p.x), chart.scales.y.getPixelForValue(p.low));
        ctx.lineTo(chart.scales.x.getPixelForValue(p.x), chart.scales.y.getPixelForValue(p.high));
        ctx.stroke();
      }));
    },
  };
  // The value of a bar and its step, beside its end; and its name above it, where the screen has no room beside it.
  const barNotes = {
    id: "barNotes",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      ctx.save();
      ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
      ctx.textBaseline = "middle";
      chart.getDatasetMeta(0).data.forEach((bar, i) => {
        ctx.fillStyle = ink("ink");
        ctx.fillText(chart.data.datasets[0].notes[i], bar.x + 7, bar.y);
        if (chart.data.datasets[0].areNamedAbove) ctx.fillText(cut(chart.data.labels[i]), bar.base + 3, bar.y - 16);
      });
      ctx.restore();
    },
  };

  function hatched(colour) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.strokeStyle = colour;
    pen.lineWidth = 1.6;
    for (const shift of [-6, 0, 6]) { pen.moveTo(shift, 6); pen.lineTo(shift + 6, 0); }
    pen.stroke();
    return Object.assign(pen.createPattern(tile, "repeat"), { hatched: colour });
  }

  // Room for words drawn beside the axes; of a very long one the middle is left out, since names often differ at the end.
  const mostRoom = 170;
  const ruler = document.createElement("canvas").getContext("2d");
  function widthOf(text) {
    ruler.font = "12px " + getComputedStyle(document.body).fontFamily;
    return ruler.measureText(text).width;
  }
  const widest = (texts) => Math.min(mostRoom, Math.max(...texts.map(widthOf)));
  function cut(text) {
    if (widthOf(text) <= mostRoom) return text;
    const kept = (half) => text.slice(0, half) + "…" + text.slice(-half);
    let half = Math.floor(text.length / 2);
    while (half > 1 && widthOf(kept(half)) > mostRoom) half -= 1;
    return kept(half);
  }

  // As many ticks as have room.
  const linear = (title, write, more) =>
    axis(title, { ...more, ticks: { callback: write, maxRotation: 0, autoSkipPadding: 14 } });
  const named = (title, names, more) => axis(title, {
    grid: { display: false }, ...more, ticks: { callback: (_, i) => cut(names[i]), autoSkip: false, ...more.ticks },
  });

  const common = (more) => ({
    responsive: true, maintainAspectRatio: false, animation: false, ...more,
    plugins: { legend: { display: false }, ...more.plugins },
  });

  function lines(spec) {
    const sets = spec.lines.map((line, i) => {
      const colour = colourOf(line);
      return {
        label: line.label, borderColor: colour, borderDash: dashes[line.role], borderWidth: line.role === "tilewise" ? 2 : 1.5,
        pointStyle: marks[i % marks.length], pointRadius: { limit: 0, serial: 2 }[line.role] ?? 3.5, pointBorderWidth: 1.5,
        pointBackgroundColor: line.points.map((p) => p[4] ? ink("paper") : colour),
        data: line.points.map(([x, y, low, high]) => ({ x, y, low, high })),
      };
    });
    const xs = spec.lines.flatMap((line) => line.points.map((p) => p[0]));
    const write = written[spec.unit];
    const x = { ...logarithmic(spec.x, short), min: Math.min(...xs) / 1.5, max: Math.max(...xs) * 1.5 };
    if (spec.marks === "points") {  // such as powers of two: an axis of decades would have none of them
      const values = [...new Set(xs)].sort((a, b) => a - b);
      x.afterBuildTicks = (scale) => { scale.ticks = values.map((value) => ({ value })); };
      x.ticks = { ...x.ticks, callback: (v) => v.toLocaleString("en") };
    }
    return {
      type: "line", data: { datasets: sets }, plugins: [endLabels, whiskers],
      options: common({
        layout: { padding: { right: 24 + widest(sets.map((set) => set.label)), top: 8 } },
        scales: { x, y: logarithmic(spec.y, write) },
        plugins: { tooltip: { callbacks: {
          title: (items) => (spec.counts ?? "n") + " = " + items[0].parsed.x.toLocaleString("en"),
          label: (item) => item.dataset.label + ": " + write(item.parsed.y),
        } } },
      }),
    };
  }

  function bars(spec, isNarrow, width) {
    const write = written[spec.unit];
    const fill = { serial: (c) => c, tilewise: (c) => c, peer: hatched, limit: () => "transparent" };
    const colours = spec.bars.map(colourOf);
    const notes = spec.bars.map((b) => (b.hollow ? "? " : "") + write(b.value) + (b.note ? "   " + b.note : ""));
    const values = spec.bars.map((b) => b.value);
    // Where the longest would leave nothing of the shortest, equal lengths are equal factors.
    const isWide = Math.max(...values) > 100 * Math.min(...values);
    const labels = spec.bars.map((b) => b.label);
    // The longest bar is so long that what stands beside each ends within the chart; a short bar leaves room itself.
    const room = width - (isNarrow ? 0 : widest(labels) + 16) - 12, most = Math.max(...values);
    const length = Math.min(...values.map((v, i) => (room - 7 - widthOf(notes[i])) / (isWide ? 1 : v / most)));
    return {
      type: "bar", plugins: [barNotes],
      data: {
        labels,
        datasets: [{
          data: values, borderColor: colours, borderWidth: 1.5, barPercentage: isNarrow ? 0.4 : 0.72, categoryPercentage: 1,
          backgroundColor: spec.bars.map((b, i) => b.hollow ? "transparent" : fill[b.role](colours[i])),
          notes, areNamedAbove: isNarrow,
        }],
      },
      options: common({
        indexAxis: "y", layout: { padding: { right: 12 + room - Math.min(room, Math.max(60, length)), top: isNarrow ? 10 : 0 } },
        scales: {
          x: isWide ? { ...logarithmic(spec.x + ", logarithmic", write), min: Math.min(...values) / 2 }
            : linear(spec.x, write, { beginAtZero: true }),
          y: isNarrow ? { display: false } : named("", labels, { ticks: { color: ink("ink"), font: { size: 12 } } }),
        },
        plugins: { tooltip: { callbacks: { label: (item) => write(item.parsed.x) } } },
      }),
    };
  }

  function stack(spec) {
    const write = written[spec.unit];
    // Every second one is pale, which tells neighbours apart where colours do not; what is hatched is other people's.
    const fillOf = (part, i) => ink(part.colour) + (i % 2 === 0 ? "66" : "");
    return {
      type: "bar",
      data: {
        labels: spec.labels,
        datasets: spec.parts.map((part, i) => ({
          label: part.label, data: part.values, backgroundColor: fillOf(part, i), borderColor: ink(part.colour), borderWidth: 1,
          barPercentage: 0.75, categoryPercentage: 1,
        })),
      },
      options: common({
        indexAxis: "y",
        scales: {
          x: linear(spec.x, write, { stacked: true, max: spec.unit === "share" ? 1 : undefined }),
          y: named(spec.y, spec.labels, { stacked: true }),
        },
        plugins: {
          legend: { display: true, position: "top", align: "start", labels: { color: ink("ink"), boxWidth: 14, boxHeight: 10, font: { size: 12 } } },
          tooltip: { callbacks: { label: (item) => item.dataset.label + ": " + write(item.parsed.x) } },
        },
      }),
    };
  }

  // Names beside the points of a roofline; pushed apart where they would overlap.
  const pointNames = {
    id: "pointNames",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      const index = chart.data.datasets.length - 1;
      const set = chart.data.datasets[index];
      ctx.save();
      ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
      ctx.textBaseline = "middle";
      const labels = chart.getDatasetMeta(index).data.map((point, i) => {
        const width = ctx.measureText(set.names[i]).width;
        const fits = point.x + 8 + width < chartArea.right;
        return { text: set.names[i], colour: set.pointBorderColor[i], x: fits ? point.x + 8 : point.x - 8 - width, y: point.y, width };
      }).sort((a, b) => a.y - b.y);
      labels.forEach((label, i) => {
        for (const above of labels.slice(0, i)) {
          const apart = above.x > label.x + label.width || label.x > above.x + above.width;
          if (!apart && label.y < above.y + 13) label.y = above.y + 13;
        }
        ctx.fillStyle = label.colour;
        ctx.fillText(label.text, label.x, label.y);
      });
      ctx.restore();
    },
  };

  // A slanted roof is named where it begins, a level one where it ends, above the line.
  const roofNames = {
    id: "roofNames",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      ctx.save();
      ctx.font = "12px " + getComputedStyle(document.body).fontFamily;
      ctx.textBaseline = "bottom";
      const named = [];  // level ones; a later one at the same height stands to the left
      chart.data.datasets.slice(0, -1).forEach((set, i) => {
        const [first, last] = chart.getDatasetMeta(i).data;
        const isLevel = first.y === last.y;
        ctx.textAlign = isLevel ? "right" : "left";
        ctx.fillStyle = set.borderColor;
        let x = isLevel ? last.x - 4 : first.x + 4;
        if (isLevel) {
          for (const known of named) if (Math.abs(known.y - last.y) < 14) x = Math.min(x, known.left - 10);
          named.push({ y: last.y, left: x - ctx.measureText(set.label).width });
        }
        ctx.save();
        ctx.translate(x, isLevel ? last.y - 2 : first.y - 4);
        if (!isLevel) ctx.rotate(Math.atan2(last.y - first.y, last.x - first.x));
        ctx.fillText(set.label, 0, 0);
        ctx.restore();
      });
      ctx.restore();
    },
  };

  function roofline(spec) {
    const write = written[spec.unit];
    const roofs = spec.roofs.map((line) => ({
      label: line.label, borderColor: colourOf(line), borderDash: dashes[line.role], borderWidth: 1.5, pointRadius: 0, pointHitRadius: 0,
      data: line.points.map(([x, y]) => ({ x, y })),
    }));
    const colours = spec.marks.map((mark) => ink(mark.colour));
    const points = spec.marks.map((mark) => mark.point);
    const named = {
      showLine: false, names: spec.marks.map((mark) => mark.label), borderColor: ink("soft"), pointRadius: 4.5, pointBorderWidth: 1.5,
      pointStyle: spec.marks.map((mark) => mark.colour === "ours0" ? "circle" : "triangle"),
      pointBorderColor: colours, pointBackgroundColor: points.map((p, i) => p[4] ? ink("paper") : colours[i]),
      data: points.map(([x, y, low, high]) => ({ x, y, low, high })),
    };
    const xs = [...spec.roofs.flatMap((line) => line.points.map((p) => p[0])), ...points.map((p) => p[0])];
    const x = { ...logarithmic(spec.x, three), min: Math.min(...xs), max: Math.max(...xs) };
    return {
      type: "line", data: { datasets: [...roofs, named] }, plugins: [whiskers, roofNames, pointNames],
      options: common({
        layout: { padding: { right: 12, top: 12 } },
        scales: { x, y: logarithmic(spec.y, write) },
        plugins: { tooltip: { callbacks: {
          title: (items) => three(items[0].parsed.x) + " operations for each byte",
          label: (item) => (item.dataset.names ?? [])[item.dataIndex] + ": " + write(item.parsed.y),
        } } },
      }),
    };
  }

  const kinds = { lines, bars, stack, roofline };
  globalThis.ink = ink;
  // `width` is what the chart has, `isNarrow` whether names of bars find no room in it.
  globalThis.chartOf = (spec, isNarrow, width) => kinds[spec.kind](spec, isNarrow, width);
})();
