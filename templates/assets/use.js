/* Tables that sort and filter. The state stands in the address (`?agents.sort=-cost&agents.filter=low`), so that a
   link carries it; a query is the one part that a page opened from a file may change too. Runs once the page is
   parsed. */
(() => {
  "use strict";

  const { all, announce, button, copyText } = reportgen;
  const MOST_SHOWN = 20;
  const FILTER_FROM = 9;
  const order = new Intl.Collator("en", { numeric: true });
  const taken = new Set();

  const slug = (text) =>
    text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 32) || "column";

  function unique(name, used) {
    let free = name;
    for (let n = 2; used.has(free); n += 1) free = `${name}-${n}`;
    used.add(free);
    return free;
  }

  /* The address. Where a browser refuses to change the query, the state goes after `#?`. */

  const stored = () => new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : location.search);

  function store(name, state) {
    const params = stored();
    for (const [key, value] of Object.entries(state)) {
      if (value) params.set(`${name}.${key}`, value);
      else params.delete(`${name}.${key}`);
    }
    const query = String(params);
    if (location.hash.startsWith("#?")) {
      location.replace(`#?${query}`);
      return;
    }
    try {
      history.replaceState(history.state, "", `${query ? `?${query}` : location.pathname}${location.hash}`);
    } catch {
      location.replace(`#?${query}`);
    }
  }

  const timeOf = (time) => (time ? time.title || time.textContent : undefined);

  /* What a cell sorts by; null is unknown, and comes last either way. */
  function keyOf(cell, numeric) {
    const shown = cell.textContent.trim();
    const given = cell.dataset.v ?? timeOf(cell.querySelector("time"));
    if (given === undefined && (!shown || (shown === "unknown" && cell.querySelector(".unknown")))) return null;
    if (!numeric) return (given ?? shown).toLowerCase();
    const text = given ?? (cell.title || shown);
    const found = /[\d,]*\.?\d+(e[+-]?\d+)?/i.exec(text);
    return found ? (/^\W*-/.test(text) ? -1 : 1) * Number(found[0].replaceAll(",", "")) : null;
  }

  class Sheet {
    constructor(table) {
      this.table = table;
      this.body = table.tBodies[0];
      this.region = table.closest(".scroll");
      this.label = this.region.getAttribute("aria-label") ?? "";
      this.name = unique(slug(table.id || this.label), taken);
      this.rows = [...this.body.rows];
      this.state = { sort: "", filter: "", all: "" };
      this.tools = null;
      this.columns = [];
      if (this.rows.length > 1 && "sort" in table.dataset) this.addSorting();
      if ("fold" in table.dataset) {
        if (this.rows.length >= FILTER_FROM && "sort" in table.dataset) this.addFilter();
        if (this.rows.length > MOST_SHOWN) this.addFold();
      }
      table.addEventListener("reveal", (event) => this.reveal(event.target.closest("tr")));
      this.restore();
    }

    /* Sorting: buttons in the heads, aria-sort on the one in force. */

    addSorting() {
      const used = new Set();
      this.columns = [...this.table.tHead.rows[0].cells].map((head, place) => {
        const title = head.textContent.trim();
        const column = { head, place, title, name: unique(slug(title), used), numeric: head.classList.contains("n") };
        if (!title) return column;
        const made = button("", () => this.sortBy(column));
        made.append(...head.childNodes);
        head.append(made);
        /* Chromium repeats a table's head on each sheet of paper, but not the text of buttons in it. */
        addEventListener("beforeprint", () => made.replaceWith(...made.childNodes));
        addEventListener("afterprint", () => {
          made.append(...head.childNodes);
          head.append(made);
        });
        return column;
      });
    }

    sortBy(column) {
      const now = column.head.getAttribute("aria-sort");
      const first = column.numeric ? "descending" : "ascending";
      const next = now === null ? first : now === "ascending" ? "descending" : "ascending";
      this.sort(column, next);
      this.change({ sort: (next === "descending" ? "-" : "") + column.name });
      announce(`Sorted by ${column.title}, ${next}`);
    }

    sort(column, direction) {
      for (const { head } of this.columns) head.removeAttribute("aria-sort");
      if (column === null) {
        this.body.append(...this.rows);
        return;
      }
      const sign = direction === "ascending" ? 1 : -1;
      const { place, numeric } = column;
      const keyed = this.rows.map((row) => ({ row, key: keyOf(row.cells[place], numeric) }));
      keyed.sort((a, b) => {
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
        return sign * (numeric ? a.key - b.key : order.compare(a.key, b.key));
      });
      column.head.setAttribute("aria-sort", direction);
      this.body.append(...keyed.map((one) => one.row));
    }

    /* Filtering: rows that have all of the words, in any of their cells. */

    addFilter() {
      const label = document.createElement("label");
      const words = document.createElement("span");
      words.className = "hidden-text";
      words.textContent = `Filter the table: ${this.label}`;
      this.input = document.createElement("input");
      this.input.type = "search";
      this.input.autocomplete = "off";
      this.input.spellcheck = false;
      this.input.placeholder = `Filter ${this.rows.length.toLocaleString("en")} rows`;
      label.append(words, this.input);
      this.count = document.createElement("span");
      this.count.className = "small muted";
      this.count.setAttribute("role", "status");
      this.link = button("Copy link", (self) => copyText(location.href, self));
      this.reset = button("Reset", () => this.clear());
      this.link.className = this.reset.className = "quiet";
      this.tools = document.createElement("div");
      this.tools.className = "tools";
      this.tools.append(label, this.count, this.link, this.reset);
      this.region.before(this.tools);
      let waiting = 0;
      this.input.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => this.filterBy(this.input.value), 120);
      });
      this.input.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || !this.input.value) return;
        event.preventDefault();
        clearTimeout(waiting);
        this.input.value = "";
        this.filterBy("");
      });
    }

    filterBy(text) {
      this.filter(text);
      this.change({ filter: text.trim() });
    }

    filter(text) {
      const words = text.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
      this.texts ??= this.rows.map((row) =>
        [...row.cells].map((cell) => cell.textContent).join(" ").normalize("NFKC").toLowerCase());
      let found = 0;
      this.rows.forEach((row, n) => {
        row.hidden = !words.every((word) => this.texts[n].includes(word));
        found += !row.hidden;
      });
      this.table.classList.toggle("filtered", words.length > 0);
      if (this.more) this.more.hidden = words.length > 0;
      const all = this.rows.length.toLocaleString("en");
      this.count.textContent = words.length ? `${found.toLocaleString("en")} of ${all} rows` : "";
    }

    /* Long tables show their first rows until asked. */

    addFold() {
      this.more = button("", () => {
        this.fold(this.table.classList.contains("open"));
        this.change({ all: this.table.classList.contains("open") ? "1" : "" });
      });
      this.more.className = "quiet fold";
      this.region.after(this.more);
      this.fold(true);
    }

    fold(closed) {
      this.table.classList.toggle("open", !closed);
      this.more.setAttribute("aria-expanded", String(!closed));
      const all = this.rows.length.toLocaleString("en");
      this.more.textContent = closed ? `Show all ${all} rows` : `Show the first ${MOST_SHOWN} only`;
    }

    /* State */

    change(part) {
      Object.assign(this.state, part);
      store(this.name, this.state);
      this.refresh();
    }

    refresh() {
      if (!this.tools) return;
      this.link.hidden = !Object.values(this.state).some(Boolean);
      /* A table that is only opened has its own button to close it. */
      this.reset.hidden = !(this.state.sort || this.state.filter);
    }

    restore() {
      const params = stored();
      const wanted = params.get(`${this.name}.sort`) ?? "";
      const column = this.columns.find((one) => one.title && one.name === wanted.replace(/^-/, ""));
      if (column) {
        this.sort(column, wanted.startsWith("-") ? "descending" : "ascending");
        this.state.sort = wanted;
      }
      const text = params.get(`${this.name}.filter`);
      if (this.tools && text) {
        this.input.value = this.state.filter = text;
        this.filter(text);
      }
      if (this.more && params.get(`${this.name}.all`)) {
        this.fold(false);
        this.state.all = "1";
      }
      this.refresh();
    }

    clear() {
      this.sort(null);
      this.input.value = "";
      this.filter("");
      if (this.more) this.fold(true);
      this.change({ sort: "", filter: "", all: "" });
      this.input.focus();
      announce(`All ${this.rows.length.toLocaleString("en")} rows, in their first order`);
    }

    /* A link leads to a row: nothing hides it. */
    reveal(row) {
      if (row?.hidden) {
        this.input.value = "";
        this.filterBy("");
      }
      if (this.more && !this.table.classList.contains("open")) this.fold(false);
    }
  }

  all("table[data-sort], table[data-fold]").forEach((table) => new Sheet(table));
  const seen = new ResizeObserver((some) =>
    some.forEach(({ target }) => target.classList.toggle("cut", target.scrollWidth > target.clientWidth + 1)));
  all(".scroll").forEach((region) => seen.observe(region));
})();

/* Copying: a link to each part of a page, the SQL, and a recommendation as Markdown. Where a browser gives a page no
   clipboard, the text is selected instead. Runs once the page is parsed. */
(() => {
  "use strict";

  const { all, button, copyText } = reportgen;

  /* A mark at a heading that leads to it and copies the link. The heading keeps its own name. */
  function markHeading(heading) {
    const owner = heading.matches("h1") ? heading.closest("article[id]") : heading.closest("figcaption, .panel[id] > h3, .thing")?.closest("[id]");
    const id = heading.id || owner?.id;
    const text = heading.textContent.trim();
    if (!id || !text) return;
    const mark = document.createElement("a");
    mark.className = "anchor";
    mark.href = `#${id}`;
    mark.setAttribute("aria-label", `Copy the link to: ${text}`);
    mark.addEventListener("click", () => copyText(mark.href, mark));
    heading.setAttribute("aria-label", text);
    heading.append(mark);
  }

  const SQL = /'(?:[^']|'')*'|\b(?:all|and|as|asc|between|by|case|cross|desc|distinct|else|end|except|exists|false|filter|from|full|group|having|in|inner|is|join|lateral|left|like|limit|not|null|on|or|order|outer|over|partition|qualify|right|select|then|true|union|unnest|using|values|when|where|window|with)\b/gi;

  /* Keywords of SQL get a colour where the browser can give it to ranges of text; comments have theirs already. */
  function colourCode(found) {
    if (!found.length || !window.CSS?.highlights) return;
    const words = new Highlight();
    for (const text of found.flatMap((code) => [...code.childNodes]).filter((node) => node.nodeType === Node.TEXT_NODE)) {
      for (const match of text.data.matchAll(SQL)) {
        if (match[0].startsWith("'")) continue;
        const range = new StaticRange({
          startContainer: text, startOffset: match.index, endContainer: text, endOffset: match.index + match[0].length,
        });
        words.add(range);
      }
    }
    CSS.highlights.set("sql-word", words);
  }

  function copyCode(holder) {
    const text = holder.querySelector("pre");
    const made = button("Copy SQL", (self) => copyText(text.textContent, self, text));
    made.className = "quiet";
    holder.append(made);
  }

  /* The Markdown names its page by a path from the top of the site. Only an address that others can open is put in
     its place: one of this machine's disk would help nobody, and tell of it. */
  function copyMarkdown(holder) {
    const text = holder.querySelector("pre");
    const page = text.querySelector("[data-page]");
    const made = button("Copy as Markdown", (self) => {
      const hosted = location.protocol.startsWith("http") && page;
      const before = page?.textContent;
      if (hosted) page.textContent = `<${new URL(page.dataset.page, document.baseURI).href}>`;
      const whole = text.textContent;
      if (hosted) page.textContent = before;
      return copyText(whole, self, text);
    });
    made.className = "quiet";
    holder.before(made);
    if (!page) return;
    const link = button("Copy link", (self) => copyText(new URL(page.dataset.page, document.baseURI).href, self));
    link.className = "quiet";
    holder.before(link);
  }

  /* Text as Markdown that reads back as what it is: no character of it acts as markup. */
  const escaped = (text) =>
    text.replace(/\s+/g, " ").trim().replace(/[\\`*_{}[\]<>|~#&!]|\$(?!\d)|:(?=\/\/)|(?<=www)\./gi, "\\$&")
      /* A code host would call people, and mark issues, whatever escape stands there; not in code. */
      .replace(/(?<![\w@])@[a-z\d][\w/-]*|\\[#!]\d+|(?<!\w)GH-\d+/gi, (call) => `\`${call.replace("\\", "")}\``);

  /* In the ranked list: what it says of a recommendation. The whole, with its evidence, is to be had on the page. */
  function copyThing(holder) {
    const thing = holder.closest(".thing");
    const link = thing.querySelector(":is(h2, h3) > a");
    const part = (css) => escaped(thing.querySelector(css)?.textContent ?? "");
    const made = button("Copy as Markdown", (self) => {
      const hosted = location.protocol.startsWith("http");
      const lines = [
        `### ${escaped(link.textContent)}`,
        `**What to do:** ${part(".does")} (${part(".small")})`,
        `**Could save:** ${part(".saving").replace(/^Saving /, "")}`,
        `**Score:** ${part(".score")}, hint: ${part(".badge")}. It helps to order the work; people decide.`,
        `Page: ${hosted ? `<${link.href}>` : escaped(link.getAttribute("href"))}`,
      ];
      return copyText(lines.join("\n\n"), self);
    });
    made.className = "quiet";
    made.setAttribute("aria-label", `Copy as Markdown: ${link.textContent}`);
    holder.append(made);
  }

  all("main :is(h1, h2, h3)").forEach(markHeading);
  all(".thing .members > .tags").forEach(copyThing);
  all(".code").forEach(copyCode);
  colourCode(all(".code code"));
  all("details.markdown").forEach(copyMarkdown);
})();

/* A search box over all pages. Its index is a script of data beside this one, loaded when the box is first used: a
   page opened from a file can't fetch. Arrows choose, Enter opens, Esc closes; `/` goes to the box. */
(() => {
  "use strict";

  const own = document.currentScript.src;
  /* In the single page the index stands in it, and places are anchors. */
  const root = own ? new URL("..", own).href : "";
  const MOST_OF_A_KIND = 5;
  const holder = document.querySelector(".top");
  if (!holder || (!own && typeof reportgenIndex === "undefined")) return;

  const make = (tag, options = {}, ...children) => {
    const { attributes = {}, ...rest } = options;
    const made = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  const input = make("input", {
    type: "search", id: "search", placeholder: "Search", autocomplete: "off", spellcheck: false,
    attributes: {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "search-list",
      "aria-keyshortcuts": "/",
    },
  });
  const list = make("div", { id: "search-list", attributes: { role: "listbox", "aria-label": "Found" } });
  const status = make("p", { className: "small muted", attributes: { role: "status" } });
  const popup = make("div", { className: "found", hidden: true }, status, list);
  const label = make("label", { className: "hidden-text", htmlFor: "search", textContent: "Search the report" });
  const box = make("div", { className: "search", attributes: { role: "search" } }, label, input, popup);
  holder.append(box);

  let loading = null;
  let options = [];
  let active = -1;

  const fold = (text) => text.normalize("NFKC").toLowerCase();

  /* A row is a title with its path and other words, or a title that is its path; a kind may come in several pieces. */
  function unpack() {
    const kinds = new Map();
    for (const { kind, at, end, also: shared = "", rows, left } of reportgenIndex) {
      if (!kinds.has(kind)) kinds.set(kind, { kind, left: 0, rows: [] });
      const one = kinds.get(kind);
      one.left += left;
      for (const row of rows) {
        const [title, path = title, also = shared] = [row].flat();
        one.rows.push({ title, href: root + at + path + end, text: fold(title), more: fold(`${also} ${path}`) });
      }
    }
    return [...kinds.values()];
  }

  function load() {
    loading ??= new Promise((done, failed) => {
      if (typeof reportgenIndex !== "undefined") {
        done();
        return;
      }
      const script = make("script", { src: new URL("search-index.js", own).href, onload: done, onerror: failed });
      document.head.append(script);
    }).then(unpack);
    return loading;
  }

  /* How well an entry fits: 0 not at all; the title before the other words, beginnings before middles. */
  function fit({ text, more }, query, words) {
    let sum = text === query ? 8 : text.startsWith(query) ? 4 : 0;
    for (const word of words) {
      const at = text.indexOf(word);
      if (at === 0 || (at > 0 && !/[\p{L}\p{N}]/u.test(text[at - 1]))) sum += 3;
      else if (at > 0) sum += 2;
      else if (more.includes(word)) sum += 1;
      else return 0;
    }
    return sum;
  }

  function choose(number) {
    options[active]?.element.setAttribute("aria-selected", "false");
    active = number;
    const chosen = options[active];
    if (chosen === undefined) {
      input.removeAttribute("aria-activedescendant");
      return;
    }
    chosen.element.setAttribute("aria-selected", "true");
    chosen.element.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", chosen.element.id);
  }

  function show(open) {
    popup.hidden = !open;
    input.setAttribute("aria-expanded", String(open && options.length > 0));
    if (!open) choose(-1);
  }

  function go(option, apart) {
    if (apart) {
      window.open(option.href, "_blank", "noopener");
      return;
    }
    show(false);
    input.blur();
    location.assign(option.href);
  }

  function optionOf(row) {
    const element = make("div", {
      id: `found-${options.length}`, className: "option", title: row.title,
      attributes: { role: "option", "aria-selected": "false" },
    }, make("bdi", { textContent: row.title }));
    const option = { element, href: row.href };
    element.addEventListener("mousedown", (event) => event.preventDefault());
    element.addEventListener("click", (event) => go(option, event.ctrlKey || event.metaKey));
    options.push(option);
    return element;
  }

  async function look() {
    const query = fold(input.value).trim();
    const words = query.split(/\s+/).filter(Boolean);
    let groups = [];
    try {
      groups = words.length ? await load() : [];
    } catch {
      status.textContent = "The index of the search is missing.";
      show(true);
      return;
    }
    if (fold(input.value).trim() !== query) return;
    options = [];
    choose(-1);
    list.replaceChildren();
    let found = 0;
    let left = 0;
    for (const { kind, rows, left: cut } of groups) {
      const hits = rows.map((row) => [fit(row, query, words), row]).filter(([sum]) => sum > 0);
      hits.sort(([a], [b]) => b - a);
      left += cut;
      if (!hits.length) continue;
      const title = make("div", { className: "kind", id: `kind-${options.length}`, textContent: kind, attributes: { role: "presentation" } });
      const shown = hits.slice(0, MOST_OF_A_KIND).map(([, row]) => optionOf(row));
      list.append(make("div", { attributes: { role: "group", "aria-labelledby": title.id } }, title, ...shown));
      found += hits.length;
    }
    const more = found > options.length ? `, the best ${options.length} of them here` : "";
    const short = left ? ` ${left.toLocaleString("en")} more are not in the index: filter the tables.` : "";
    status.textContent = `${found === 0 ? "Nothing" : found.toLocaleString("en")} found${more}.${short}`;
    list.hidden = !options.length;
    show(words.length > 0);
  }

  input.addEventListener("focus", () => load().catch(() => null));
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) {
      event.preventDefault();
      if (popup.hidden) show(true);
      const past = active === -1 && step < 0 ? 0 : active;
      choose((past + step + options.length) % options.length);
    } else if (event.key === "Enter" && options.length && !popup.hidden) {
      event.preventDefault();
      go(options[Math.max(active, 0)], event.ctrlKey || event.metaKey);
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (popup.hidden && !input.value) input.blur();
      else if (popup.hidden) input.value = "";
      show(false);
    }
  });
  box.addEventListener("focusout", (event) => {
    if (!box.contains(event.relatedTarget)) show(false);
  });
  addEventListener("keydown", (event) => {
    const within = event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || within || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
})();
