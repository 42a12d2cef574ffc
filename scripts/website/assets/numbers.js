// The numbers of a drawn figure as tables: what a pointer would be told, for those who use none.
//
// Each trace that speaks (is seen, and answers a pointer) gives a table or a part of one:
//   a heatmap                      its matrix
//   points that say x and y only   a row for each place on the axis, a column for each trace
//   any other points               what each says, in a sentence
"use strict";

const gptlabNumbers = (() => {
  const MOST_ROWS = 60, MOST_COLUMNS = 40;

  function tables(plot) {
    const layout = plot._fullLayout, speaking = plot._fullData.filter(speaks);
    const found = speaking.filter(isMatrix).map(trace => matrix(trace, layout));
    for (const group of subplots(speaking.filter(trace => !isMatrix(trace)), layout)) found.push(...group);
    if (!found.length) found.push(texts(plot._fullData));
    return shown(found.filter(table => table.rows.length));
  }

  function speaks({ visible, opacity, hoverinfo, hovertemplate }) {
    return visible === true && opacity !== 0 && hoverinfo !== "skip" && (hovertemplate || hoverinfo !== "text");
  }

  const isMatrix = trace => ["heatmap", "contour"].includes(trace.type);

  // A table is {caption, head, rows}; the first cell of each row is its name.

  function matrix(trace, layout) {
    const [x, y] = axes(trace, layout), z = Array.from(trace.z, row => Array.from(row));
    const columns = z[0].map((_, i) => named(x, trace.x?.[i] ?? (trace.x0 ?? 0) + i));
    const rows = z.map((_, j) => named(y, trace.y?.[j] ?? (trace.y0 ?? 0) + j));
    const format = placeholders(trace).find(one => one.name === "z")?.format;
    const cells = z.map((row, j) => [rows[j], ...row.map((value, i) => {
      const text = trace.text?.[j]?.[i];
      return [text === undefined ? "" : plainText(text), value === null || Number.isNaN(value) ? "" : written(value, format)]
        .filter(Boolean).join(" ");
    })]);
    return { caption: pattern(trace), head: ["", ...columns], rows: cells };
  }

  function subplots(traces, layout) {
    const groups = new Map();
    for (const trace of traces) {
      const key = keyAxis(trace, layout), where = `${trace.xaxis} ${trace.yaxis} ${key}`;
      if (!groups.has(where)) groups.set(where, { key, traces: [] });
      groups.get(where).traces.push(trace);
    }
    return [...groups.values()].map(({ key, traces }) =>
      key ? [pivot(traces, key, layout)] : traces.map(trace => sentences(trace, layout)));
  }

  // The axis whose places are the rows: that of the bars, or the one with names, else x; none where the points say more
  // than x and y. A bar may say its name besides.
  function keyAxis(trace, layout) {
    const [x, y] = axes(trace, layout);
    const key = trace.type === "bar" ? (trace.orientation === "h" ? "y" : "x") : hasNames(y) ? "y" : "x";
    const isName = ({ name, index, format }) => name === "customdata" && trace.type === "bar" && !index && !format;
    const said = placeholders(trace).filter(one => !isName(one)).map(one => one.name);
    if (said.some(name => !["x", "y"].includes(name)) || (hasNames(x) && hasNames(y))) return null;
    return !said.length || said.includes(key === "x" ? "y" : "x") ? key : null;
  }

  function pivot(all, key, layout) {
    const value = key === "x" ? "y" : "x", [x, y] = axes(all[0], layout), [axis, other] = key === "x" ? [x, y] : [y, x];
    const traces = all.filter(trace => Array.from(trace[value]).some(known) && !(all.length > 1 && isLevel(trace[key])));
    const levels = traces.filter(trace => isLevel(trace[value])), rows = new Map();
    traces.forEach((trace, column) => {
      if (levels.includes(trace) && levels.length < traces.length) return;
      const format = placeholders(trace).find(one => one.name === value)?.format;
      Array.from(trace[key]).forEach((place, i) => {
        if (!rows.has(place)) rows.set(place, Array(traces.length).fill(""));
        if (known(trace[value][i])) rows.get(place)[column] = written(trace[value][i], format);
      });
    });
    const order = [...rows.keys()].filter(place => known(place) && rows.get(place).some(Boolean)).sort((a, b) => a - b);
    for (const place of order)
      traces.forEach((trace, column) => { if (levels.includes(trace)) rows.get(place)[column] ||= written(trace[value][0]); });
    return {
      caption: traces.length > 1 ? title(other) : "",
      head: [title(axis), ...traces.map(trace => name(trace) || title(other) || "value")],
      rows: order.map(place => [named(axis, place), ...rows.get(place)]),
    };
  }

  // A line drawn across, such as a floor, holds for every row.
  const isLevel = values => values.length === 2 && known(values[0]) && values[0] === values[1];

  function sentences(trace, layout) {
    const count = (trace.x ?? trace.y).length;
    const all = Array.from({ length: count }, (_, i) => sentence(trace, layout, i)).filter(Boolean);
    return { caption: "", head: [name(trace) || "what the picture says"], rows: [...new Set(all)].map(one => [one]) };
  }

  function texts(traces) {
    const all = traces.filter(trace => trace.visible === true && Array.isArray(trace.text)).flatMap(trace => trace.text);
    return { caption: "", head: ["text"], rows: all.map(text => [plainText(text, " ")]) };
  }

  // What Plotly's template says of a point: %{x}, %{customdata[1]:.2f}, %{pointNumber} …
  function sentence(trace, layout, i) {
    const [x, y] = axes(trace, layout);
    const html = template(trace).replace(PLACEHOLDER, (_, name, index, format) => {
      if (name === "pointNumber") return i;
      const axis = { x, y }[name], value = trace[name], one = Array.isArray(value) || ArrayBuffer.isView(value) ? value[i] : value;
      const said = index === undefined ? one : one?.[index];
      if (!known(said)) return "";
      return axis && !format ? named(axis, said, false) : typeof said === "number" ? written(said, format) : said;
    });
    return plainText(html);
  }

  const PLACEHOLDER = /%\{(\w+)(?:\[(\d+)\])?(?::([^}]+))?\}/g;
  const template = trace => {
    const one = Array.isArray(trace.hovertemplate) ? trace.hovertemplate[0] : trace.hovertemplate;
    return (one || "").replace(/<extra>.*?<\/extra>/, "");
  };
  const placeholders = trace =>
    [...template(trace).matchAll(PLACEHOLDER)].map(([, name, index, format]) => ({ name, index, format }));
  // How to read a matrix: the template with "row" for y and "column" for x.
  const pattern = trace => plainText(template(trace).replace(/ ?\(%\{[xy]:d\}\)/g, "").replace(PLACEHOLDER,
    (_, name) => ({ x: "column", y: "row", text: "text" })[name] ?? ""));

  const axes = (trace, layout) => ["x", "y"].map(way =>
    layout[`${way}axis${(trace[`${way}axis`] ?? way).slice(1)}`] ?? {});
  // Names of places, not numbers written out, as logarithmic axes have them.
  const hasNames = axis => [...(axis.tickmode === "array" ? axis.ticktext ?? [] : []), ...Object.values(axis.labelalias ?? {})]
    .some(text => !/^[-−]?[\d.,]+(e[-+]?\d+)?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]* ?[%kM]?$/.test(text));
  const title = axis => plainText(axis._input?.title?.text ?? ""); // without an own one Plotly has words for an editor
  const name = trace => /^trace \d+$/.test(trace.name ?? "") ? "" : plainText(trace.name ?? "");
  const known = value => value !== null && value !== undefined && !Number.isNaN(value);

  function named(axis, place, numbered = true) {
    const at = axis.tickmode === "array" ? Array.from(axis.tickvals ?? []).indexOf(place) : -1;
    const text = at >= 0 ? axis.ticktext?.[at] : axis.labelalias?.[place];
    if (text === undefined) return typeof place === "number" ? written(place) : plainText(place);
    return numbered ? plainText(text) : text;
  }

  // The formats that the figures use, as d3 writes them: [,][.precision][~][d f g %]
  function written(value, format = "") {
    const [, comma, precision, , kind] = /^(,?)(?:\.(\d+))?(~?)([dfg%]?)$/.exec(format) ?? [];
    const digits = precision === undefined ? undefined : Number(precision);
    const options = { useGrouping: !!comma, maximumFractionDigits: digits ?? 0, minimumFractionDigits: digits ?? 0 };
    if (kind === "%") return (100 * value).toLocaleString("en", options) + "%";
    if (kind === "f" || kind === "d" || comma) return value.toLocaleString("en", options);
    return String(Number(value.toPrecision(digits ?? 4)));
  }

  // Rows in all are limited: of lines that many are taken evenly, of what has names the first.
  function shown(found) {
    const part = document.createDocumentFragment(), all = found.reduce((sum, table) => sum + table.rows.length, 0);
    let left = MOST_ROWS;
    for (const { caption, head, rows } of found) {
      if (left <= 0) break;
      const some = rows.length > left ? evenly(rows, left) : rows;
      left -= some.length;
      const table = element("table", part);
      const hidden = head.length > MOST_COLUMNS ? `; ${MOST_COLUMNS} of ${head.length - 1} columns` : "";
      if (caption || hidden) element("caption", table, caption + hidden);
      row(element("thead", table), head.slice(0, MOST_COLUMNS + 1), "col");
      const body = element("tbody", table);
      for (const cells of some) row(body, cells.slice(0, MOST_COLUMNS + 1), "row");
    }
    const rows = Math.min(all, MOST_ROWS);
    element("p", part, all > rows ? `${rows} of ${all} rows are shown.` : `All ${all} rows are shown.`);
    return part;
  }

  const evenly = (rows, count) =>
    Array.from({ length: count }, (_, i) => rows[Math.round(i * (rows.length - 1) / Math.max(count - 1, 1))]);

  function row(parent, cells, scope) {
    const tr = element("tr", parent);
    cells.forEach((text, i) => {
      const cell = element(text && (scope === "col" || (i === 0 && cells.length > 1)) ? "th" : "td", tr, text);
      if (cell.tagName === "TH") cell.scope = scope;
    });
  }

  function element(tag, parent, text = "") {
    const made = parent.appendChild(document.createElement(tag));
    if (text) made.textContent = text;
    return made;
  }

  return tables;
})();

// What Plotly shows of a text: without its tags, with its entities read. A document apart, so that nothing in it is run.
function plainText(html, between = "; ") {
  const parsed = new DOMParser().parseFromString(String(html).replace(/\s*<br\s*\/?>/g, between), "text/html");
  return parsed.body.textContent.replaceAll("\u200b", "").trim();
}
