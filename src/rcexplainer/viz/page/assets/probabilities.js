// Probabilities before and after a deletion as bars, and their course over all deletions as curves.

const MOST_BARS = 6;

function probabilityBars(before, after) {
  const highest = before.map((value, label) => [Math.max(value, after ? after[label] : 0), label]);
  const labels = highest.sort((one, other) => other[0] - one[0] || one[1] - other[1]).slice(0, MOST_BARS);
  const rows = labels
    .map(([, label]) => label)
    .sort((one, other) => one - other)
    .map((label) => {
      const bars = html("td", { class: "track", "aria-hidden": "true" }, bar("before", before[label]));
      if (after) bars.append(bar("after", after[label]));
      const change = after ? `${short(before[label])} → ${short(after[label])}` : short(before[label]);
      return html("tr", {}, html("th", { scope: "row" }, className(label)), bars, html("td", {}, change));
    });
  const caption = after ? "Probabilities before → after the deletion" : "Probabilities";
  const table = html("table", { class: "bars" }, html("caption", {}, caption), html("tbody", {}, ...rows));
  if (before.length > MOST_BARS) {
    table.append(html("tfoot", {}, html("tr", {}, html("td", { colspan: 3 }, `${before.length - MOST_BARS} further classes have less`))));
  }
  return table;
}

function bar(kind, value) {
  const made = html("span", { class: `bar ${kind}` });
  made.style.width = `${(100 * Math.max(value, 0)).toFixed(2)}%`;
  return made;
}

const CHART = { width: 480, height: 96, left: 26, right: 8, top: 8, bottom: 18 };

// p(predicted class) over the number of deleted edges, one curve for each method; full points have another prediction.
function curveChart(results, noun) {
  const { width, height, left, right, top, bottom } = CHART;
  const longest = Math.max(1, ...results.map((result) => result.curve.lengths.at(-1)));
  const across = (length) => left + (length / longest) * (width - left - right);
  const down = (value) => top + (1 - value) * (height - top - bottom);
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" });
  const texts = [];
  for (const value of [0, 0.5, 1]) {
    chart.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: down(value), y2: down(value) }),
      svg("text", { x: left - 5, y: down(value) + 3.5, "text-anchor": "end" }, String(value)),
    );
  }
  results.forEach((result, place) => {
    const { lengths, probabilities } = result.curve;
    const points = lengths.map((length, step) => [across(length), down(probabilities[step][result.prediction])]);
    const path = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
    chart.append(svg("path", { class: `curve curve-${place % 5}`, d: `M${path}` }));
    const crowded = lengths.length > 80;
    lengths.forEach((_, step) => {
      const other = argmax(probabilities[step]) !== result.prediction;
      if (crowded && !other) return;
      const [x, y] = points[step];
      chart.append(svg("circle", { class: `point ${other ? "other" : "same"}`, cx: x.toFixed(1), cy: y.toFixed(1), r: crowded ? 1.6 : 2.6 }));
    });
    const first = lengths.find((_, step) => argmax(probabilities[step]) !== result.prediction);
    texts.push(first === undefined ? "the prediction never changes" : `another prediction from ${counted(first, noun)} on`);
  });
  const marker = svg("line", { class: "marker", y1: top, y2: height - bottom });
  chart.append(marker, svg("text", { x: left, y: height - 4 }, "0"));
  chart.append(svg("text", { x: width - right, y: height - 4, "text-anchor": "end" }, `${counted(longest, noun)} deleted`));
  chart.setAttribute("aria-label", `Probability of the predicted class over the number of deleted ${noun}s: ${texts.join("; ")}`);
  const mark = (length) => {
    marker.classList.toggle("hidden", length === null);
    marker.setAttribute("x1", across(length ?? 0));
    marker.setAttribute("x2", across(length ?? 0));
  };
  return { chart, mark };
}
