// Stepping through a conversation happens in the browser: the server has sent all its turns.
// One set of listeners on the document, so that nothing needs to be wired again when Gradio
// replaces a component's content.
(() => {
  if (window.mmragReady) return;
  window.mmragReady = true;
  let timer = null;
  let kept = null; // where the reader is, for a conversation that is sent again as it grows

  const box = () => document.querySelector(".mm-conversation");
  const name = (c) => JSON.stringify([c.dataset.run, c.dataset.session, c.dataset.degradation]);
  const turns = (c) => [...c.querySelectorAll(".mm-turn[data-turn]")];

  function show(c, index, { play = false } = {}) {
    const all = turns(c);
    if (!all.length) return;
    index = Math.max(0, Math.min(all.length - 1, index));
    c.dataset.current = index;
    kept = { name: name(c), index };
    all.forEach((turn, i) => {
      turn.classList.toggle("mm-now", i === index);
      turn.classList.toggle("mm-later", play && i > index);
    });
    c.querySelectorAll(".mm-detail").forEach((d) => { d.hidden = +d.dataset.turn !== index; });
    c.querySelectorAll(".mm-scrub").forEach((s) => { s.value = index; });
    const where = c.querySelector(".mm-where b");
    if (where) where.textContent = index + 1;
    overlays(c);
    if (c.dataset.linked !== "no") link(c);
  }

  function overlays(c) {
    const on = new Set([...c.querySelectorAll(".mm-toggle:checked")].map((t) => t.dataset.kind));
    c.querySelectorAll(".mm-overlay").forEach((o) => {
      const mine = o.dataset.for === "all" || o.dataset.for === c.dataset.current;
      o.classList.toggle("mm-shown", mine && on.has(o.dataset.kind));
    });
  }

  function link(c) {
    const url = new URL(window.location);
    url.searchParams.set("run", c.dataset.run);
    url.searchParams.set("session", c.dataset.session);
    if (c.dataset.degradation !== "clean") url.searchParams.set("degradation", c.dataset.degradation);
    else url.searchParams.delete("degradation");
    url.searchParams.set("turn", +c.dataset.current + 1);
    window.history.replaceState(null, "", url);
  }

  function pause(c) {
    clearInterval(timer);
    timer = null;
    const button = c.querySelector(".mm-play");
    if (button) { button.textContent = "▶ Play"; button.setAttribute("aria-label", "Play"); }
  }

  function play(c) {
    if (timer) { pause(c); return; }
    const button = c.querySelector(".mm-play");
    button.textContent = "❚❚ Pause";
    button.setAttribute("aria-label", "Pause");
    const last = turns(c).length - 1;
    show(c, +c.dataset.current >= last ? 0 : +c.dataset.current, { play: true });
    timer = setInterval(() => {
      if (!c.isConnected || +c.dataset.current >= last) { pause(c); if (c.isConnected) show(c, last); return; }
      show(c, +c.dataset.current + 1, { play: true });
    }, 1600);
  }

  function act(c, what) {
    const now = +c.dataset.current;
    if (what === "play") { play(c); return; }
    pause(c);
    if (what === "first") show(c, 0);
    if (what === "last") show(c, turns(c).length - 1);
    if (what === "back") show(c, now - 1);
    if (what === "next") show(c, now + 1);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-act], [data-goto]");
    const c = button?.closest(".mm-conversation");
    if (!c) return;
    if (button.dataset.act) act(c, button.dataset.act);
    else { pause(c); show(c, +button.dataset.goto); }
  });

  document.addEventListener("input", (event) => {
    const target = event.target;
    const c = target.closest?.(".mm-conversation, .mm-lab");
    if (!c) return;
    if (target.classList.contains("mm-scrub")) { pause(c); show(c, +target.value); }
    if (target.classList.contains("mm-slider")) {
      target.closest("figure").querySelector(".mm-frame").style.setProperty("--mm-split", target.value + "%");
    }
    if (target.classList.contains("mm-toggle")) overlays(c);
  });

  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], [role=listbox], [role=tab]");
    const c = box();
    if (!c || typing || event.ctrlKey || event.metaKey || event.altKey || !c.offsetParent) return;
    if (event.key === " " && event.target.closest?.("button, summary, a")) return;
    if (keys[event.key]) { event.preventDefault(); act(c, keys[event.key]); }
    if (event.key === "n" || event.key === "p") {
      document.querySelector(event.key === "n" ? "#mm-next-session" : "#mm-previous-session")?.click();
    }
  });

  // a conversation that has just arrived is shown at its own turn, one that has grown where it was
  new MutationObserver(() => {
    const c = box();
    if (c && !c.dataset.ready) { c.dataset.ready = "yes"; pause(c); show(c, kept?.name === name(c) ? kept.index : +c.dataset.current); }
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
