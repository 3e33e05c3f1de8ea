/* Draws the charts of a page with Plotly, which is loaded after this. A page holds for each chart what is its own (see
   reportgen/render/charts.py); how all charts look, in light and in dark, stands here, once. Without this script, or
   without Plotly, the tables stand open in the charts' places. It makes no request, and builds no HTML from text. */
(() => {
  "use strict";

  /* Plain JSON: a test reads it from here, and measures the colours. The palette starts from Okabe and Ito's; its
     colours were moved until each stands out from a light and a dark page (3:1 and more) and from each other for the
     three kinds of colour blindness. */
  const LOOK = {
    "config": { "displayModeBar": false, "displaylogo": false, "responsive": true, "typesetMath": false },
    "layout": {
      "height": 320,
      "margin": { "l": 8, "r": 28, "t": 12, "b": 8, "pad": 0 },
      "paper_bgcolor": "rgba(0,0,0,0)",
      "plot_bgcolor": "rgba(0,0,0,0)",
      "font": { "size": 13 },
      "hoverlabel": { "align": "left", "namelength": -1 },
      "hovermode": "closest",
      "dragmode": false,
      "showlegend": false
    },
    "axis": {
      "type": "linear",
      "automargin": true,
      "separatethousands": true,
      "exponentformat": "B",
      "minexponent": 4,
      "showline": true,
      "ticks": "outside",
      "ticklen": 4,
      "gridwidth": 1,
      "zerolinewidth": 1,
      "title": { "standoff": 8, "font": { "size": 13 } }
    },
    "xaxis": { "showgrid": false },
    "dates": [
      { "dtickrange": [null, 86399999], "value": "%H:%M\n%-d %b %Y" },
      { "dtickrange": [86400000, "M1"], "value": "%-d %b\n%Y" },
      { "dtickrange": ["M1", null], "value": "%b\n%Y" }
    ],
    "shape": { "layer": "above", "line": { "width": 1.5, "dash": "dash" } },
    "themes": {
      "light": {
        "series0": "#0f6fc6",
        "series1": "#e0601f",
        "series2": "#12705a",
        "series3": "#8e2a86",
        "series4": "#6e5200",
        "series5": "#1b2a49",
        "others": "#85858f",
        "base": "#0f6fc6",
        "accent": "#d2500f",
        "text": "#24292f",
        "muted": "#57606a",
        "grid": "#e3e6ea",
        "line": "#57606a",
        "hover": "#ffffff"
      },
      "dark": {
        "series0": "#56b4e9",
        "series1": "#f0703a",
        "series2": "#2fd3a2",
        "series3": "#d65cb6",
        "series4": "#f3e88a",
        "series5": "#3d7fe0",
        "others": "#7c838d",
        "base": "#56b4e9",
        "accent": "#ff8a4c",
        "text": "#e6eaef",
        "muted": "#a7b0bb",
        "grid": "#2f3741",
        "line": "#a7b0bb",
        "hover": "#1c2229"
      }
    }
  };

  /* Narrower than this, names beside an axis are cut, and names beside points are left to the hover. */
  const NARROW = 480;
  const MOST_DATES = 4;
  const SVG = "http://www.w3.org/2000/svg";

  const root = document.documentElement;
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const themeNow = () => root.dataset.theme || (systemDark.matches ? "dark" : "light");
  const charts = [...document.querySelectorAll(".chart")];
  /* The top of the site; a report that is one page has none. */
  const own = document.currentScript.src;
  const top = own ? new URL("..", own).href : "";
  /* Chart to its figure, its box and what of its legend has a colour. */
  const known = new Map();

  /* How a theme looks, as a template of Plotly's: what a figure says itself goes before it. */
  function template(theme) {
    const colours = LOOK.themes[theme];
    const family = getComputedStyle(document.body).fontFamily;
    const axis = {
      ...LOOK.axis, gridcolor: colours.grid, zerolinecolor: colours.grid, linecolor: colours.muted,
      tickcolor: colours.muted,
    };
    return {
      layout: {
        ...LOOK.layout,
        font: { ...LOOK.layout.font, family, color: colours.text },
        hoverlabel: {
          ...LOOK.layout.hoverlabel, bgcolor: colours.hover, bordercolor: colours.muted,
          font: { family, size: 13, color: colours.text },
        },
        xaxis: { ...axis, ...LOOK.xaxis },
        yaxis: axis,
        shapedefaults: { ...LOOK.shape, line: { ...LOOK.shape.line, color: colours.line } },
      },
    };
  }

  /* The colours of the traces, for Plotly.restyle. */
  function painted(figure, theme) {
    const colours = figure.layout.meta.colours.map((name) => LOOK.themes[theme][name]);
    return { "marker.color": colours, "line.color": figure.data.map((trace, n) => (trace.type === "bar" ? null : colours[n])) };
  }

  /* Times come as steps from the first; all are UTC. */
  function times(packed) {
    let at = Date.parse(packed.from.includes(" ") ? `${packed.from.replace(" ", "T")}Z` : packed.from);
    return packed.by.map((step) => (step === null ? null : (at += step * packed.unit)));
  }

  function read(chart) {
    const figure = JSON.parse(chart.querySelector("script").textContent);
    for (const trace of figure.data) {
      if (trace.x?.by) trace.x = times(trace.x);
      if (trace.text?.ends) trace.text = trace.text.ends.map((end) => trace.text.front + end);
      /* Without Plotly's own box of the name. */
      if (trace.hovertemplate) trace.hovertemplate = `${trace.hovertemplate.replaceAll("\n", "<br>")}<extra></extra>`;
    }
    const { xaxis, meta } = figure.layout;
    /* Links that end with the text of their point come without it. */
    meta.links &&= meta.links.map((links, n) => links?.heads
      ?.flatMap(([head, count]) => Array(count).fill(head)).map((head, point) => head && head + figure.data[n].text[point])
      ?? links);
    if (xaxis.type === "date" && !xaxis.tickvals) xaxis.tickformatstops = LOOK.dates;
    return figure;
  }

  /* The legend is HTML: it wraps, can be reached by keyboard, and never lies over the plot. A button hides and shows. */

  function sign(trace) {
    const drawing = document.createElementNS(SVG, "svg");
    const bar = trace.type === "bar";
    drawing.setAttribute("viewBox", bar ? "4 0 12 12" : "0 0 22 12");
    drawing.setAttribute("width", bar ? 12 : 22);
    drawing.setAttribute("height", 12);
    drawing.setAttribute("aria-hidden", "true");
    const put = (tag, values) => {
      const part = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(values)) part.setAttribute(name, value);
      drawing.append(part);
    };
    const stroke = { fill: "none", stroke: "currentColor", "stroke-width": 2 };
    const mode = trace.mode ?? "";
    if (bar && trace.marker?.pattern) {
      put("path", { ...stroke, d: "M5 11L15 1M5 6L10 1M10 11L15 6" });
      put("rect", { ...stroke, "stroke-width": 1, x: 5, y: 1, width: 10, height: 10 });
    } else if (bar) {
      put("rect", { fill: "currentColor", x: 5, y: 1, width: 10, height: 10 });
    }
    if (mode.includes("lines")) {
      put("path", { ...stroke, d: "M0 6H22", "stroke-dasharray": trace.line?.dash === "dash" ? "5 3" : "none" });
    }
    if (mode.includes("markers")) {
      const open = trace.marker.symbol === "circle-open";
      if (trace.marker.symbol === "diamond") put("path", { fill: "currentColor", d: "M11 0l6 6-6 6-6-6z" });
      else put("circle", { ...(open ? stroke : { fill: "currentColor" }), cx: 11, cy: 6, r: 4 });
    }
    return drawing;
  }

  function entry(name, drawing) {
    const item = document.createElement("li");
    const text = document.createElement("bdi");
    text.textContent = name;
    text.title = name;
    item.append(drawing, text);
    return item;
  }

  function legend(figure, box) {
    const { names, line, size } = figure.layout.meta;
    const list = document.createElement("ul");
    list.className = "key";
    const coloured = [];
    const shown = names.map((name, n) => [name, n]).filter(([name]) => name !== null);
    for (const [name, n] of shown) {
      const drawing = sign(figure.data[n]);
      const item = entry(name, drawing);
      coloured.push([drawing, figure.layout.meta.colours[n]]);
      if (figure.data.length > 1) {
        const made = document.createElement("button");
        made.type = "button";
        made.setAttribute("aria-pressed", "true");
        made.append(...item.childNodes);
        made.addEventListener("click", () => {
          const on = made.getAttribute("aria-pressed") !== "true";
          made.setAttribute("aria-pressed", String(on));
          figure.data[n].visible = on;
          if (box.data) Plotly.restyle(box, { visible: on }, [n]);
        });
        item.append(made);
      }
      list.append(item);
    }
    if (line) {
      const drawing = sign({ mode: "lines", line: { dash: "dash" } });
      coloured.push([drawing, "line"]);
      list.append(entry(line, drawing));
    }
    if (size) {
      const drawing = sign({ mode: "markers", marker: { symbol: "circle-open" } });
      coloured.push([drawing, "muted"]);
      list.append(entry(`size: ${size}`, drawing));
    }
    if (list.childElementCount) box.before(list);
    return coloured;
  }

  function paintLegend(coloured, theme) {
    for (const [drawing, colour] of coloured) drawing.style.color = LOOK.themes[theme][colour];
  }

  function draw(chart) {
    const one = known.get(chart);
    if (one.drawn || !one.figure) return;
    one.drawn = true;
    const { box, figure } = one;
    const { data, layout } = figure;
    const theme = themeNow();
    const paint = painted(figure, theme);
    data.forEach((trace, n) => {
      trace.marker = { ...trace.marker, color: paint["marker.color"][n] };
      if (trace.type !== "bar") trace.line = { ...trace.line, color: paint["line.color"][n] };
    });
    fit(one);
    layout.template = template(theme);
    Plotly.newPlot(box, data, layout, LOOK.config).then(() => follow(one), () => giveUp(chart));
  }

  /* What a narrow box has no room for. */
  function fit(one) {
    const { box, figure: { data, layout } } = one;
    one.narrow = box.clientWidth < NARROW;
    const { xaxis, yaxis, meta } = layout;
    one.wide ??= { names: yaxis.ticktext, days: xaxis.ticktext, places: xaxis.tickvals };
    if (meta.narrow) yaxis.ticktext = one.narrow ? meta.narrow : one.wide.names;
    if (xaxis.type === "date" && one.wide.days) {
      const step = one.narrow ? Math.ceil(one.wide.days.length / MOST_DATES) : 1;
      xaxis.ticktext = one.wide.days.filter((_, n) => n % step === 0);
      xaxis.tickvals = one.wide.places.filter((_, n) => n % step === 0);
    } else if (xaxis.type === "date") {
      xaxis.nticks = one.narrow ? MOST_DATES - Boolean(meta.narrow) : 0;
    }
    for (const trace of data.filter(({ textposition }) => textposition)) {
      trace.mode = one.narrow ? "markers" : "markers+text";
      trace.marker.sizeref = meta.sizeref * (one.narrow ? 3 : 1);
    }
  }

  /* A point leads to its page; the rows of the table and of the pages of runs are for the keyboard. In one page only
     what has a link in it is there. */
  function follow(one) {
    const { links } = one.figure.layout.meta;
    if (!links) return;
    const goals = new Map([...one.chart.querySelectorAll("a[data-to]")].map((link) => [link.dataset.to, link]));
    const goal = ({ points: [point] }) => {
      const path = links[point.curveNumber]?.[point.pointNumber];
      return path && (goals.get(path)?.href ?? (top && top + path.replace(/(?=#)|$/, ".html")));
    };
    one.box.on("plotly_hover", (event) => one.box.classList.toggle("leads", Boolean(goal(event))));
    one.box.on("plotly_unhover", () => one.box.classList.remove("leads"));
    one.box.on("plotly_click", (event) => { if (goal(event)) location.href = goal(event); });
  }

  function recolour(theme) {
    for (const { box, coloured, drawn, figure } of known.values()) {
      if (coloured) paintLegend(coloured, theme);
      if (drawn) Plotly.update(box, painted(figure, theme), { template: template(theme) });
    }
  }

  function giveUp(chart) {
    chart.classList.add("failed");
    chart.querySelector(".key")?.remove();
    chart.querySelector("details").open = true;
  }

  /* Before the first paint: the boxes have their heights, the legends stand, the tables are folded. */
  for (const chart of charts) {
    const box = chart.querySelector(".plot");
    const table = chart.querySelector("details");
    known.set(chart, { chart, box });
    box.style.height = `${box.dataset.height}px`;
    table.open = false;
    table.classList.add("ready");
    try {
      const figure = read(chart);
      const coloured = legend(figure, box);
      known.set(chart, { chart, box, figure, coloured });
      paintLegend(coloured, themeNow());
    } catch {
      giveUp(chart);
    }
  }

  function start() {
    if (typeof Plotly === "undefined") {
      charts.forEach(giveUp);
      return;
    }
    const watcher = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        draw(target);
      }
    }, { rootMargin: "600px" });
    charts.forEach((chart) => watcher.observe(chart));
    /* The others while the page rests: a picture of the whole page has no empty frame. */
    const rest = [...charts];
    const idle = window.requestIdleCallback ?? setTimeout;
    const next = () => rest.length && idle(() => { draw(rest.shift()); next(); });
    addEventListener("load", next);
    const follows = () => recolour(themeNow());
    new MutationObserver(follows).observe(root, { attributeFilter: ["data-theme"] });
    systemDark.addEventListener("change", follows);
    addEventListener("resize", () => {
      for (const one of known.values()) {
        if (!one.drawn || one.narrow === one.box.clientWidth < NARROW) continue;
        fit(one);
        Plotly.react(one.box, one.figure.data, one.box.layout, LOOK.config);
      }
    });
    /* Paper is light, and narrower than the window. */
    addEventListener("beforeprint", () => {
      charts.forEach(draw);
      recolour("light");
      for (const { box, drawn } of known.values()) if (drawn) Plotly.relayout(box, { width: Math.min(box.clientWidth, 660) });
    });
    addEventListener("afterprint", () => {
      recolour(themeNow());
      for (const { box, drawn } of known.values()) if (drawn) Plotly.relayout(box, { width: null, autosize: true });
    });
  }

  document.addEventListener("DOMContentLoaded", start);
})();
