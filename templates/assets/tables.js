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

  /* What a cell sorts by; null is unknown, and comes last either way. */
  function keyOf(cell, numeric) {
    const shown = cell.textContent.trim();
    const given = cell.dataset.v ?? cell.querySelector("time")?.dateTime;
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
      if (this.tools) this.link.hidden = this.reset.hidden = !Object.values(this.state).some(Boolean);
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
})();
