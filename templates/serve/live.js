/* Served by `reportgen serve` only, never part of a built site: reloads the page when there is newer content, and shows
   what keeps it from being made. It builds no HTML from text, and talks to nobody but the server of the page. */
(() => {
  "use strict";

  const script = document.currentScript;
  const shown = script.dataset.content;
  const waiting = document.body?.classList.contains("waiting") ?? false;
  let source = null;
  let again = 0;
  /* What was closed stays closed on the next page, until there is something else to tell. */
  const KEY = "reportgen-live-closed";
  let dismissed = (() => { try { return sessionStorage.getItem(KEY) ?? ""; } catch { return ""; } })();

  function dismiss(key) {
    dismissed = key;
    try { sessionStorage.setItem(KEY, key); } catch { /* then for this page only */ }
    panel?.remove();
    panel = null;
  }

  /* A browser keeps few connections to one server: a page that nobody sees gives its own back. */
  function connect() {
    if (source !== null || document.hidden) return;
    const about = new URLSearchParams({ page: location.pathname });
    source = new EventSource(`/.reportgen/events?${about}`);
    source.onmessage = (message) => take(JSON.parse(message.data));
    source.onerror = () => {
      note("The preview has stopped", "Start it again with reportgen serve: this page then reloads by itself.");
      if (source.readyState === EventSource.CLOSED) {
        disconnect();
        clearTimeout(again);
        again = setTimeout(connect, 2000);
      }
    };
  }

  function disconnect() {
    source?.close();
    source = null;
  }

  function take(state) {
    const newer = state.content !== shown && state.content !== "";
    if (newer || (waiting && state.content === "" && state.problemMark !== script.dataset.problems)) {
      disconnect();
      location.reload();
      return;
    }
    if (waiting) {
      const busy = document.getElementById("busy");
      if (busy && state.busy) busy.textContent = state.busy;
      return;
    }
    show(state);
  }

  /* The panel lives in a shadow tree: the site's style sheet and this one don't meet. */

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const sheet = document.createElement("link");
  sheet.rel = "stylesheet";
  sheet.href = "/.reportgen/live.css";
  root.append(sheet);
  host.id = "reportgen-live";
  let panel = null;

  function make(tag, css, text, ...children) {
    const made = document.createElement(tag);
    if (css) made.className = css;
    if (text) made.textContent = text;
    made.append(...children);
    return made;
  }

  function place(css, title, hint, key, ...children) {
    panel?.remove();
    panel = null;
    if (key === dismissed) return;
    const close = make("button", "", "Close");
    close.type = "button";
    close.addEventListener("click", () => dismiss(key));
    panel = make("section", `panel ${css}`, "", make("div", "bar", "", make("strong", "", title), close));
    panel.setAttribute("role", css === "bad" ? "alert" : "status");
    panel.setAttribute("aria-label", "Preview");
    if (hint) panel.append(make("p", "hint", hint));
    panel.append(...children);
    root.append(panel);
    if (!host.isConnected) document.body.append(host);
  }

  function excerpt(problem) {
    const code = make("pre", "", "");
    for (const [number, text] of problem.excerpt) {
      const marked = number === problem.line;
      code.append(make("span", marked ? "line marked" : "line", "", make("b", "", String(number)), `${text}\n`));
      if (marked && problem.column) {
        const blanks = text.slice(0, problem.column - 1).replace(/[^\t]/g, " ");
        code.append(make("span", "line marked caret", "", make("b", "", ""), `${blanks}^\n`));
      }
    }
    return code;
  }

  function section(problem, css = "") {
    const made = make("section", "problem", "", make("h2", "", problem.where), make("p", `what ${css}`, problem.what));
    if (problem.excerpt.length) made.append(excerpt(problem));
    if (problem.next) made.append(make("p", "next", problem.next));
    return made;
  }

  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  let goodNews = 0;

  function show(state) {
    clearTimeout(goodNews);
    const key = JSON.stringify([state.problems, state.tests]);
    const failed = state.tests?.failed ?? [];
    if (state.problems.length) {
      const held = state.held ? "This page shows the last content that was good." : "";
      place("bad", count(state.problems.length, "problem"), held, key, ...state.problems.map((one) => section(one)));
    } else if (failed.length) {
      const sections = failed.map((one) => section({ ...one, excerpt: [] }, "table"));
      place("bad", `${count(failed.length, "test")} failed, ${state.tests.passed} passed`, "", key, ...sections);
    } else if (state.tests && state.tests.passed) {
      place("good", `${count(state.tests.passed, "test")} passed`, state.tests.detectors.join(", "), key);
      goodNews = setTimeout(() => dismiss(key), 5000);
    } else if (state.busy) {
      place("", "Working", state.busy, "");
    } else {
      place("", "", "", dismissed);
    }
  }

  function note(title, hint) {
    if (!waiting) place("bad", title, hint, `${title}${hint}`);
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
  addEventListener("pagehide", disconnect);
  addEventListener("pageshow", connect);
  connect();
})();
