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

  function load() {
    loading ??= new Promise((done, failed) => {
      if (typeof reportgenIndex !== "undefined") {
        done();
        return;
      }
      const script = make("script", { src: new URL("search-index.js", own).href, onload: done, onerror: failed });
      document.head.append(script);
    }).then(() => reportgenIndex.map(({ kind, at, end, rows, left }) => ({
      kind,
      left,
      rows: rows.map(([title, path, also = ""]) => ({ title, also, href: root + at + path + end, text: fold(title), more: fold(also) })),
    })));
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
