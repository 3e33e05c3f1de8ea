/* The report's only script of its own. Every page reads completely without it: it adds the theme switch, charts in
   the place of open tables, sorting, folding of long tables, and copy buttons. It makes no request, and builds no
   HTML from text. It runs in the head (so that the theme is right at the first paint), and again once the page is
   parsed, before the deferred Plotly script. */
(() => {
  "use strict";

  const root = document.documentElement;
  const KEY = "reportgen-theme";
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  /* A browser may refuse storage to a page opened from a file: the switch then lasts as long as the page. */
  const remembered = () => {
    try { return localStorage.getItem(KEY); } catch { return null; }
  };
  const remember = (theme) => {
    try {
      if (theme) localStorage.setItem(KEY, theme);
      else localStorage.removeItem(KEY);
    } catch { /* nothing to do */ }
  };
  const systemTheme = () => (systemDark.matches ? "dark" : "light");
  const themeNow = () => root.dataset.theme || systemTheme();

  root.classList.add("js");
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();

  function button(text, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", () => action(made));
    return made;
  }

  /* Theme: what is chosen against the system is remembered; choosing the system's own theme forgets it. */

  function themeSwitch(holder) {
    const made = button("", () => {
      const next = themeNow() === "dark" ? "light" : "dark";
      remember(next === systemTheme() ? null : next);
      if (next === systemTheme()) delete root.dataset.theme;
      else root.dataset.theme = next;
      refresh();
    });
    made.className = "quiet theme";
    const refresh = () => {
      const dark = themeNow() === "dark";
      made.textContent = dark ? "Light" : "Dark";
      made.setAttribute("aria-label", dark ? "Use the light theme" : "Use the dark theme");
      recolour(themeNow());
    };
    systemDark.addEventListener("change", refresh);
    holder.append(made);
    refresh();
  }

  /* Charts. The figure and the colours of both themes come with the page; see reportgen/render/charts.py. */

  const drawn = new Map();

  function put(target, path, value) {
    const parts = path.replace(/\[(\d+)\]/g, ".$1").split(".");
    const last = parts.pop();
    let place = target;
    for (const part of parts) place = place[part] ??= {};
    place[last] = value;
  }

  function draw(chart) {
    const box = chart.querySelector(".plot");
    if (drawn.has(box)) return;
    const { figure, config } = JSON.parse(chart.querySelector("script").textContent);
    const { data, layout } = figure;
    const theme = layout.meta.themes[themeNow()];
    for (const [path, value] of Object.entries(theme.relayout)) put(layout, path, value);
    for (const [path, values] of Object.entries(theme.restyle)) data.forEach((trace, n) => put(trace, path, values[n]));
    const family = getComputedStyle(document.body).fontFamily;
    put(layout, "font.family", family);
    put(layout, "hoverlabel.font.family", family);
    drawn.set(box, layout.meta.themes);
    Plotly.newPlot(box, data, layout, config).catch(() => giveUp(chart));
  }

  function recolour(theme) {
    for (const [box, themes] of drawn) Plotly.update(box, themes[theme].restyle, themes[theme].relayout);
  }

  function giveUp(chart) {
    chart.classList.add("failed");
    chart.querySelector("details").open = true;
  }

  function prepareCharts() {
    for (const chart of all(".chart")) {
      const box = chart.querySelector(".plot");
      box.style.height = `${box.dataset.height}px`;
      const table = chart.querySelector("details");
      table.open = false;
      table.classList.add("ready");
    }
  }

  function drawCharts() {
    const charts = all(".chart");
    if (typeof Plotly === "undefined") {
      charts.forEach(giveUp);
      return;
    }
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((one) => one.isIntersecting)) {
        watcher.unobserve(entry.target);
        draw(entry.target);
      }
    }, { rootMargin: "600px" });
    charts.forEach((chart) => watcher.observe(chart));
    /* Paper is light, and narrower than the window. */
    addEventListener("beforeprint", () => {
      charts.forEach(draw);
      recolour("light");
      for (const box of drawn.keys()) Plotly.relayout(box, { width: Math.min(box.clientWidth, 660) });
    });
    addEventListener("afterprint", () => {
      recolour(themeNow());
      for (const box of drawn.keys()) Plotly.relayout(box, { width: null, autosize: true });
    });
  }

  /* Tables: buttons in the heads, aria-sort on the one in force; unknown values come last either way. */

  function keyOf(cell, numeric) {
    const text = cell.dataset.v ?? (cell.title || cell.textContent.trim());
    if (!numeric) return (cell.dataset.v ?? cell.textContent.trim()).toLowerCase();
    const found = /[\d,]*\.?\d+(e[+-]?\d+)?/i.exec(text);
    return found ? (/^\W*-/.test(text) ? -1 : 1) * Number(found[0].replaceAll(",", "")) : null;
  }

  function sort(table, head, place) {
    const numeric = head.classList.contains("n");
    const now = head.getAttribute("aria-sort");
    const next = now === null ? (numeric ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
    const sign = next === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[place], numeric) }));
    const order = new Intl.Collator("en", { numeric: true });
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return sign * (numeric ? a.key - b.key : order.compare(a.key, b.key));
    });
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", next);
    body.append(...rows.map((one) => one.row));
  }

  function makeSortable(table) {
    if (table.tBodies[0].rows.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      if (!head.textContent.trim()) return;
      const made = button("", () => sort(table, head, place));
      made.append(...head.childNodes);
      head.append(made);
      /* Chromium repeats a table's head on each sheet of paper, but not the text of buttons in it. */
      addEventListener("beforeprint", () => made.replaceWith(...made.childNodes));
      addEventListener("afterprint", () => {
        made.append(...head.childNodes);
        head.append(made);
      });
    });
  }

  function makeFoldable(table) {
    const rows = table.tBodies[0].rows;
    if (rows.length <= 20) return;
    const words = () => (table.classList.contains("open") ? "Show the first 20 only" : `Show all ${rows.length.toLocaleString("en")} rows`);
    const made = button("", (self) => {
      table.classList.toggle("open");
      self.setAttribute("aria-expanded", String(table.classList.contains("open")));
      self.textContent = words();
    });
    made.className = "quiet fold";
    made.textContent = words();
    made.setAttribute("aria-expanded", "false");
    table.closest(".scroll").after(made);
  }

  /* A link to a row that is folded away opens what hides it. */
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let place = target; place; place = place.parentElement) {
      if (place.tagName === "DETAILS") place.open = true;
      if (place.tagName === "TABLE") place.parentElement.parentElement.querySelector(".fold[aria-expanded=false]")?.click();
    }
    target.scrollIntoView();
  }

  /* A region that scrolls can be reached by keyboard; one that doesn't is no stop on the way. */
  function watchRegions() {
    const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => {
      const scrolls = target.scrollWidth > target.clientWidth + 1 || target.scrollHeight > target.clientHeight + 1;
      if (scrolls) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }));
    all(".scroll, pre").forEach((region) => watcher.observe(region));
  }

  function copyButton(holder) {
    const made = button("Copy", async (self) => {
      try {
        await navigator.clipboard.writeText(holder.querySelector("pre").textContent);
        self.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(holder.querySelector("pre"));
        self.textContent = "Selected";
      }
      setTimeout(() => { self.textContent = "Copy"; }, 2000);
    });
    made.className = "quiet";
    holder.append(made);
  }

  function enhance() {
    prepareCharts();
    all("table[data-sort]").forEach(makeSortable);
    all("table[data-fold]").forEach(makeFoldable);
    all(".code").forEach(copyButton);
    all(".top").forEach(themeSwitch);
    watchRegions();
    const here = document.querySelector(".nav [aria-current]");
    const strip = document.querySelector(".nav > div");
    if (here && strip) strip.scrollLeft = here.offsetLeft - 48;
    reveal();
    addEventListener("hashchange", reveal);
  }

  /* "interactive" comes once the page is parsed and before deferred scripts run. */
  const whenParsed = () => document.readyState === "interactive" && enhance();
  document.addEventListener("readystatechange", whenParsed);
  document.addEventListener("DOMContentLoaded", drawCharts);
})();
