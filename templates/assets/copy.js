/* Copying: a link to each part of a page, the SQL, and a recommendation as Markdown. Where a browser gives a page no
   clipboard, the text is selected instead. Runs once the page is parsed. */
(() => {
  "use strict";

  const { all, button, copyText } = reportgen;

  /* A mark at a heading that leads to it and copies the link. The heading keeps its own name. */
  function markHeading(heading) {
    const owner = heading.matches("h1") ? heading.closest("article[id]") : heading.closest("figcaption, .panel[id] > h3")?.closest("[id]");
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

  all("main :is(h1, h2, h3)").forEach(markHeading);
  all(".code").forEach(copyCode);
  all("details.markdown").forEach(copyMarkdown);
})();
