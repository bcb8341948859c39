// Where the visitor is: the address says it all, and this is the only place that changes it.
// A page registers when Gradio has mounted it; it is opened whenever the address comes to it.
window.mmrag = (() => {
  const pages = {}; // id → what opens it
  const last = {}; // id → the address it showed last
  const names = () => [...document.querySelectorAll("#mm-nav [data-page]")].map((a) => a.dataset.page);
  const asked = () => new URLSearchParams(location.search);
  let shown = "";

  function pageOf(address) {
    const named = address.get("tab");
    if (named && (!names().length || names().includes(named))) return named;
    return address.get("session") ? "replay" : "home";
  }

  const page = () => pageOf(asked());

  function theme() {
    const wanted = asked().get("__theme");
    const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.classList.toggle("dark", dark);
  }

  function plain(address) { // as handlers take it: every value a text
    return Object.fromEntries(address.entries());
  }

  function show() {
    const here = page(), address = asked();
    last[here] = location.search;
    document.documentElement.dataset.page = here;
    document.documentElement.toggleAttribute("data-play", address.has("play"));
    const run = address.get("run") || "";
    const crumb = document.querySelector("#mm-crumb");
    if (crumb && run) crumb.textContent = run;
    for (const link of document.querySelectorAll("#mm-nav a")) {
      const id = link.dataset.page;
      if (id === here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
      link.href = home(id, run);
    }
    const title = document.querySelector(`#mm-nav [data-page="${here}"]`)?.textContent;
    if (title) document.title = `${title} · ${run ? run + " · " : ""}mmrag`;
    document.querySelector(`#mm-tabs [role=tab][data-tab-id="${here}"]`)?.click();
    if (shown !== here) window.scrollTo(0, 0);
    shown = here;
    pages[here]?.(plain(address));
  }

  // A page is come back to where it was left, but under the run that has been chosen since; Compare
  // keeps its pair.
  function home(id, run) {
    const before = new URLSearchParams(last[id] || "");
    if (last[id] && (!run || id === "compare" || (before.get("run") || run) === run)) return `/${last[id]}`;
    const address = new URLSearchParams({ tab: id });
    if (run) address.set("run", run);
    return `/?${address}`;
  }

  function query(values) {
    const address = values instanceof URLSearchParams ? values : new URLSearchParams(values);
    for (const [key, value] of [...address]) if (value === "" || value === "undefined") address.delete(key);
    return `/?${address}`.replaceAll("+", "%20").replaceAll("%40", "@");
  }

  function go(target, { replace = false } = {}) {
    const href = typeof target === "string" ? target : query(target);
    const now = location.pathname + location.search;
    if (href !== now) history[replace ? "replaceState" : "pushState"](null, "", href);
    show();
  }

  // Remember in the address what changed within a page; nothing is opened again.
  function note(values, { push = false } = {}) {
    const address = asked();
    address.set("tab", page());
    for (const [key, value] of Object.entries(values)) {
      if (value === "" || value === undefined || value === null) address.delete(key); else address.set(key, value);
    }
    const href = query(address);
    if (href === location.pathname + location.search) return;
    history[push ? "pushState" : "replaceState"](null, "", href);
    document.documentElement.toggleAttribute("data-play", address.has("play"));
    last[page()] = location.search;
    const run = address.get("run") || "", crumb = document.querySelector("#mm-crumb");
    if (crumb && run) crumb.textContent = run;
    for (const link of document.querySelectorAll("#mm-nav a")) link.href = home(link.dataset.page, run);
  }

  let wired = false, waiting = ""; // Gradio's own events are lost before its app is ready
  function register(id, open, byEvent = false) {
    pages[id] = byEvent
      ? (address) => { if (wired) setTimeout(() => open(address)); else waiting = id; }
      : open;
    if (page() === id) pages[id](plain(asked()));
  }

  function ready() {
    wired = true;
    if (waiting === page()) pages[waiting](plain(asked()));
  }

  // One question to the server; what goes wrong is told where the answer would have stood.
  const silent = { error: "The server did not answer. Is mmrag ui still running?" };
  let asking = 0;
  async function ask(call, values) {
    const bar = document.querySelector("#mm-bar");
    asking += 1;
    const slow = setTimeout(() => bar?.classList.add("mm-busy"), 250);
    try {
      return (await call(values)) || silent; // Gradio swallows a request that nobody took
    } catch (error) {
      return silent;
    } finally {
      clearTimeout(slow);
      asking -= 1;
      if (!asking) bar?.classList.remove("mm-busy");
    }
  }

  // What a reader opened stays open when the server draws the part anew.
  function keepOpen(root) {
    const opened = new Set(), all = () => [...root.querySelectorAll("details")];
    root.addEventListener("click", (event) => {
      const details = event.target.closest("summary")?.parentElement, at = all().indexOf(details);
      if (at >= 0) opened[details.open ? "delete" : "add"](at);
    });
    let count = 0;
    new MutationObserver(() => {
      const now = all();
      if (now.length < count) opened.clear(); // another conversation
      count = now.length;
      now.forEach((one, i) => { if (opened.has(i) && !one.open) one.open = true; });
    }).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["open"] });
  }

  theme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  // Gradio opens the first tab; the address may say another, and mounting two takes twice as long
  const parts = window.gradio_config?.components || [], first = pageOf(asked());
  const tabs = parts.find((one) => one.props?.elem_id === "mm-tabs");
  if (tabs && parts.some((one) => one.type === "tabitem" && one.props.id === first)) tabs.props.selected = first;

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='/?']");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
    if (!link || elsewhere || link.target || event.defaultPrevented) return;
    event.preventDefault();
    const ticked = link.dataset.page === "compare" && page() === "home" && document.querySelector("#mm-compare-two[href]");
    go((ticked || link).getAttribute("href"));
  });
  // the slider between before and after, wherever a picture has one
  document.addEventListener("input", (event) => {
    if (!event.target.classList?.contains("mm-slider")) return;
    event.target.closest("figure, dialog")?.querySelector(".mm-frame")?.style.setProperty("--mm-split", `${event.target.value}%`);
  });
  addEventListener("popstate", show);
  document.addEventListener("DOMContentLoaded", show);
  return { register, ready, go, note, ask, query, page, keepOpen, asked: () => plain(asked()) };
})();
