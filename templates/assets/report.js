/* The report's only script of its own. Every page reads completely without it: it adds the theme switch, charts in
   the place of open tables, and what the scripts beside it share. It makes no request, and builds no HTML from text. It runs in the head (so that the theme is right at the first paint), and again once the page is
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

  /* Said to whoever listens, and seen by nobody. */
  const status = document.createElement("p");
  status.className = "hidden-text";
  status.setAttribute("role", "status");
  const announce = (text) => { status.textContent = text; };

  function writeClipboard(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "hidden-text";
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return Promise.resolve(done);
  }

  /* Copies, says so on the button, and else selects where the text stands. */
  async function copyText(text, made, place) {
    const words = made.textContent;
    const done = await writeClipboard(text);
    if (!done && place) {
      const shut = place.closest("details");
      if (shut) shut.open = true;
      getSelection().selectAllChildren(place);
    }
    const said = done ? "Copied" : place ? "Selected" : "Not allowed here";
    announce(said);
    if (made.dataset.busy) return;
    made.dataset.busy = "1";
    made.classList.toggle("copied", done);
    if (words) made.textContent = said;
    setTimeout(() => {
      if (words) made.textContent = words;
      made.classList.remove("copied");
      delete made.dataset.busy;
    }, 2000);
  }

  window.reportgen = { all, announce, button, copyText };

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
    };
    systemDark.addEventListener("change", refresh);
    holder.insertBefore(made, holder.querySelector(".search"));
    refresh();
  }

  /* A link to what is folded away or filtered out opens what hides it. */
  function reveal() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* then as it is written */ }
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
    target.dispatchEvent(new Event("reveal", { bubbles: true }));
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

  function enhance() {
    all(".top").forEach(themeSwitch);
    watchRegions();
    const here = document.querySelector(".nav [aria-current]");
    const strip = document.querySelector(".nav > div");
    if (here && strip) strip.scrollLeft = here.offsetLeft - 48;
    document.body.append(status);
    addEventListener("hashchange", reveal);
  }

  /* "interactive" comes once the page is parsed and before deferred scripts run. */
  const whenParsed = () => document.readyState === "interactive" && enhance();
  document.addEventListener("readystatechange", whenParsed);
  /* Charts that nothing prepared (see charts.js) leave their place to their tables. */
  document.addEventListener("DOMContentLoaded", () => {
    for (const chart of all(".chart")) if (!chart.querySelector(".ready")) chart.classList.add("failed");
  });
  document.addEventListener("DOMContentLoaded", reveal);
})();
