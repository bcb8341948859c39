// Replay: the list, the conversation and its keys. The server is asked for a list or a conversation;
// stepping through turns happens here, because the server has sent them all.
mmrag.replay = (root, server) => {
  const $ = (selector) => root.querySelector(selector);
  const view = $("#mm-view"), list = $("#mm-sessions"), filters = $("#mm-filters");
  const state = { run: "", session: "", condition: "", version: 0, finished: true, outcomes: "" };
  let timer = null, asked = 0, listing = 0, deep = false; // a list and a conversation are asked for apart
  let next = "", steps = Promise.resolve(); // the conversation that keys have come to, shown or not
  const fetched = new Map(); // neighbours of the conversation that is shown
  const fresh = { details: false, toggles: { focus: true, gaze: true } }; // what the reader opened stays open from turn to turn

  const box = () => $(".mm-conversation");
  const turns = () => [...view.querySelectorAll(".mm-turn[data-turn]")];
  const narrow = () => matchMedia("(max-width: 760px)").matches;

  // ---- the address

  const FILTERS = ["outcome", "kind", "severity", "quality", "domain", "type", "meta", "stopped", "flipped", "people", "text"];

  function chosen() {
    const found = { text: $("#mm-text").value.trim() };
    for (const one of filters.querySelectorAll("[data-filter]")) {
      found[one.dataset.filter] = one.type === "checkbox" ? (one.checked ? "yes" : "") : one.value;
    }
    return found;
  }

  function note(push = false) {
    if (mmrag.page() !== "replay") return; // an answer came late
    const c = box();
    mmrag.note({
      ...Object.fromEntries(FILTERS.map((name) => [name, ""])), ...chosen(), run: state.run,
      session: $(".mm-replay").dataset.view === "list" && narrow() ? "" : state.session,
      condition: state.condition === "clean" ? "" : state.condition, degradation: "",
      turn: c ? +c.dataset.current + 1 : "",
    }, { push });
  }

  async function open(address) {
    const mine = ++asked;
    next = "";
    const same = address.run && address.run === state.run && box();
    if (same && address.session === state.session && (address.condition || "clean") === state.condition) {
      look(address.session || !narrow() ? "talk" : "list");
      if (address.turn) show(+address.turn - 1);
      return;
    }
    if (same && !address.session && narrow()) { look("list"); return; }
    ++listing;
    const found = await mmrag.ask(server.open_replay, address);
    if (mine !== asked) return;
    if (found.error) { problem(found.error); return; }
    state.run = found.run;
    const runs = $("#mm-run");
    runs.replaceChildren(...found.runs.map((name) => new Option(name, name, false, name === found.run)));
    $("#mm-text").value = address.text || "";
    filters.innerHTML = found.filters || "";
    count();
    listed(found);
    look(address.session || !narrow() ? "talk" : "list");
    told(found, { replace: true });
    fetchNeighbours();
    follow();
  }

  function look(what) { $(".mm-replay").dataset.view = what; }

  function problem(words) {
    view.innerHTML = "";
    const p = document.createElement("p");
    p.className = "mm-message";
    p.setAttribute("role", "alert");
    p.textContent = words;
    view.append(p);
  }

  // ---- the list

  function listed(found) {
    list.innerHTML = found.list;
    here(true);
    more();
    judged(found);
  }

  const judged = (found) => root.dispatchEvent(new CustomEvent("mm-listed", { detail: found.otherwise || {} }));

  function here(scroll = false) {
    for (const row of list.querySelectorAll(".mm-row")) {
      const mine = row.dataset.session === (next || state.session);
      row.classList.toggle("mm-here", mine);
      for (const button of row.querySelectorAll("[data-open]")) {
        button.classList.toggle("mm-chosen", button.dataset.condition === state.condition);
        const on = mine && button.dataset.condition === state.condition;
        if (on) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
      }
      if (mine && scroll) within(list, row);
    }
  }

  // Bring something into view within a pane, and move nothing else.
  function within(pane, part, room = 8) {
    const outer = pane.getBoundingClientRect(), inner = part.getBoundingClientRect();
    if (inner.top < outer.top + room) pane.scrollTop -= outer.top + room - inner.top;
    else if (inner.bottom > outer.bottom - room) {
      pane.scrollTop += Math.min(inner.bottom - outer.bottom + room, inner.top - outer.top - room);
    }
  }

  const watcher = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) grow(one.target);
  }, { root: null, rootMargin: "400px" });

  function more() {
    watcher.disconnect();
    const end = list.querySelector(".mm-more");
    if (end) watcher.observe(end);
  }

  async function grow(end) {
    watcher.disconnect();
    const found = await mmrag.ask(server.list_conversations, { ...chosen(), run: state.run, offset: end.dataset.offset });
    if (!end.isConnected || found.error) return;
    const holder = document.createElement("div");
    holder.innerHTML = found.list;
    holder.querySelector(".mm-before-these")?.remove();
    end.replaceWith(...holder.childNodes);
    here();
    more();
    judged(found);
  }

  let narrowing = null;
  function narrowed() {
    clearTimeout(narrowing);
    narrowing = setTimeout(async () => {
      count();
      const mine = ++listing, open = asked;
      const found = await mmrag.ask(server.list_conversations, { ...chosen(), run: state.run, session: state.session });
      if (mine !== listing) return;
      if (found.error) { problem(found.error); return; }
      listed(found);
      const there = [...list.querySelectorAll(".mm-row")].some((row) => row.dataset.session === state.session);
      if (!there && found.first && !narrow() && open === asked) await talk({ session: found.first });
      note();
    }, 60);
  }

  function count() {
    const set = Object.entries(chosen()).filter(([name, value]) => name !== "text" && value).length;
    $("#mm-filter-toggle b").textContent = set ? ` ${set}` : "";
  }

  // ---- the conversation

  async function talk({ session, condition = "", turn = "" }, { push = false } = {}) {
    const mine = ++asked;
    next = session;
    const question = { ...chosen(), run: state.run, session, condition, turn };
    const ready = fetched.get(JSON.stringify(question));
    if (ready) await new Promise((go) => setTimeout(go)); // keys of the same instant come first
    if (mine !== asked) return;
    const found = await (ready || mmrag.ask(server.show_conversation, question));
    if (mine !== asked) return;
    if (found.error) { problem(found.error); return; } // a key goes on from the one that was asked for
    next = "";
    told(found, { push });
    fetchNeighbours();
  }

  // Only of a run that is finished: what the next key asks for. A verdict is said of the one shown.
  function fetchNeighbours() {
    fetched.clear();
    if (!state.finished) return;
    for (const by of [1, -1]) {
      const row = rowAt(state.session, by);
      if (!row) continue;
      const question = { ...chosen(), run: state.run, session: row.dataset.session, condition: conditionOf(row), turn: "" };
      const mine = asked, answer = mmrag.ask(server.show_conversation, question);
      fetched.set(JSON.stringify(question), answer);
      answer.then((found) => { if (found.error && mine === asked) problem(found.error); }); // its run is gone
    }
  }

  const rows = () => [...list.querySelectorAll(".mm-row")];
  function rowAt(session, by) {
    const all = rows(), at = all.findIndex((row) => row.dataset.session === session);
    return at < 0 ? all[0] : all[at + by];
  }

  function conditionOf(row) {
    const wanted = [...row.querySelectorAll(".mm-cond:not(.mm-other)")].map((chip) => chip.dataset.condition);
    return wanted.includes(state.condition) ? state.condition : wanted[0];
  }

  function told(found, { push = false, replace = false, keep = false, at = null } = {}) {
    if (narrow() && found.session !== state.session) scrollTo(0, 0);
    Object.assign(state, { session: found.session || "", condition: found.condition || "", outcomes: found.outcomes || "" });
    if (found.version !== undefined) { state.version = found.version; state.finished = found.finished; }
    pause();
    $("#mm-run").value = state.run; // another may have been chosen, and left again
    const before = view.querySelector(".mm-talk")?.scrollTop || 0;
    view.innerHTML = found.view;
    const c = box();
    if (c) {
      for (const t of c.querySelectorAll(".mm-toggle")) t.checked = !!fresh.toggles[t.dataset.kind];
      show(at ?? +c.dataset.current, { noted: false, still: narrow() && !+c.dataset.current });
      if (keep) view.querySelector(".mm-talk").scrollTop = before;
      c.dispatchEvent(new CustomEvent("mm-conversation", { bubbles: true, detail: { ...state, keep } }));
    }
    here(!keep);
    note(push && !replace);
  }

  function show(index, { playing = false, noted = true, still = false } = {}) {
    const c = box(), all = turns();
    if (!c || !all.length) return;
    index = Math.max(0, Math.min(all.length - 1, index));
    c.dataset.current = index;
    all.forEach((turn, i) => {
      turn.classList.toggle("mm-now", i === index);
      turn.classList.toggle("mm-later", playing && i > index);
      const ask = turn.querySelector(".mm-ask");
      if (i === index) ask?.setAttribute("aria-current", "step"); else ask?.removeAttribute("aria-current");
      turn.querySelector(".mm-detail").open = i === index && fresh.details;
    });
    c.querySelector(".mm-where b").textContent = index + 1;
    overlays(c);
    if (!still) reveal(all[index]);
    if (noted) note();
    c.dispatchEvent(new CustomEvent("mm-turn", { bubbles: true, detail: { ...state, turn: index } }));
  }

  // The selected turn is in view: in its pane, or on a phone in the page.
  function reveal(turn) {
    const pane = view.querySelector(".mm-talk");
    if (pane.scrollHeight > pane.clientHeight + 1 && getComputedStyle(pane).overflowY !== "visible") {
      within(pane, turn);
      return;
    }
    const top = turn.getBoundingClientRect().top, low = innerHeight - 64;
    const player = view.querySelector(".mm-player");
    const ceiling = 52 + (getComputedStyle(player).position === "sticky" ? player.offsetHeight : 0);
    const bottom = Math.min(turn.getBoundingClientRect().bottom, top + low - ceiling);
    if (top < ceiling) scrollBy(0, top - ceiling);
    else if (bottom > low) scrollBy(0, bottom - low);
  }

  function overlays(c) {
    c.querySelectorAll(".mm-toggle").forEach((t) => { fresh.toggles[t.dataset.kind] = t.checked; });
    for (const o of root.querySelectorAll(".mm-frame .mm-overlay")) {
      const mine = o.dataset.for === "all" || o.dataset.for === c.dataset.current;
      o.classList.toggle("mm-shown", mine && !!fresh.toggles[o.dataset.kind]);
    }
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    const button = view.querySelector(".mm-play");
    if (button) { button.textContent = "▶"; button.setAttribute("aria-label", "Play"); }
  }

  function play() {
    const c = box(), last = turns().length - 1;
    if (timer) { pause(); return; }
    const button = view.querySelector(".mm-play");
    button.textContent = "❚❚";
    button.setAttribute("aria-label", "Pause");
    show(+c.dataset.current >= last ? 0 : +c.dataset.current, { playing: true });
    timer = setInterval(() => {
      if (!c.isConnected || +c.dataset.current >= last) { pause(); if (c.isConnected) show(last); return; }
      show(+c.dataset.current + 1, { playing: true });
    }, 1600);
  }

  // Keys may come quicker than answers: each goes on from where the one before has come to.
  async function step(by) {
    const from = next || state.session;
    if (by > 0 && rows().at(-1)?.dataset.session === from) {
      const end = list.querySelector(".mm-more");
      if (!end) return;
      await grow(end);
      if (rows().at(-1)?.dataset.session === from) return;
    }
    const row = rowAt(from, by);
    if (!row) { list.querySelector(".mm-before-these")?.click(); return; }
    talk({ session: row.dataset.session, condition: conditionOf(row) });
    here(true);
  }

  function act(what) {
    const c = box();
    if (what === "up" || what === "down") {
      const by = what === "up" ? -1 : 1;
      steps = steps.then(() => step(by));
      return;
    }
    if (!c) return;
    const now = +c.dataset.current;
    if (what === "play") { play(); return; }
    if (what === "zoom") { zoom(); return; }
    if (what === "list") { if (deep) history.back(); else { look("list"); note(); } return; }
    pause();
    if (what === "first") show(0);
    if (what === "last") show(turns().length - 1);
    if (what === "back") show(now - 1);
    if (what === "next") show(now + 1);
  }

  // ---- the picture, enlarged: the same frame with its boxes, in a dialog of its own

  function zoom() {
    const frame = view.querySelector(".mm-frame"), dialog = $(".mm-zoom");
    if (!frame) return;
    const copy = frame.cloneNode(true);
    copy.querySelector(".mm-enlarge").remove();
    const stage = document.createElement("div");
    stage.className = "mm-zoomstage";
    stage.append(copy);
    const bar = document.createElement("div");
    bar.className = "mm-zoombar";
    for (const [name, label] of [["out", "−"], ["fit", "fit"], ["in", "+"], ["close", "✕"]]) {
      const button = document.createElement("button");
      button.type = "button"; button.className = "mm-button"; button.dataset.zoom = name; button.textContent = label;
      button.setAttribute("aria-label", { out: "Smaller", fit: "Fit", in: "Larger", close: "Close" }[name]);
      bar.append(button);
    }
    const slide = view.querySelector(".mm-slide"), toggles = view.querySelector(".mm-toggles");
    if (slide) { const again = slide.cloneNode(true); again.querySelector("input").value = slide.querySelector("input").value; bar.prepend(again); }
    if (toggles) {
      const again = toggles.cloneNode(true);
      again.querySelectorAll(".mm-toggle").forEach((t) => { t.checked = !!fresh.toggles[t.dataset.kind]; });
      const words = document.createElement("div"); words.className = "mm-toggles"; words.append(...again.childNodes);
      bar.prepend(words);
    }
    dialog.replaceChildren(stage, bar);
    let scale = 1, x = 0, y = 0, held = null;
    const place = () => { copy.style.transform = `translate(${x}px, ${y}px) scale(${scale})`; copy.style.setProperty("--mm-scale", scale); };
    const by = (factor, at) => {
      const next = Math.max(1, Math.min(12, scale * factor)), area = stage.getBoundingClientRect();
      const cx = (at ? at.clientX : area.left + area.width / 2) - area.left - area.width / 2;
      const cy = (at ? at.clientY : area.top + area.height / 2) - area.top - area.height / 2;
      x = cx - (cx - x) * next / scale; y = cy - (cy - y) * next / scale; scale = next;
      if (scale === 1) { x = 0; y = 0; }
      place();
    };
    stage.addEventListener("wheel", (event) => { event.preventDefault(); by(event.deltaY < 0 ? 1.25 : 0.8, event); }, { passive: false });
    stage.addEventListener("dblclick", (event) => by(scale > 1 ? 1 / scale : 3, event));
    stage.addEventListener("pointerdown", (event) => { held = [event.clientX - x, event.clientY - y]; stage.setPointerCapture(event.pointerId); });
    stage.addEventListener("pointermove", (event) => { if (held && scale > 1) { x = event.clientX - held[0]; y = event.clientY - held[1]; place(); } });
    for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { held = null; });
    bar.addEventListener("click", (event) => {
      const what = event.target.closest("[data-zoom]")?.dataset.zoom;
      if (what === "close") dialog.close();
      if (what === "in") by(1.5);
      if (what === "out") by(1 / 1.5);
      if (what === "fit") by(1 / scale);
    });
    dialog.onkeydown = (event) => {
      if (event.key === "+" || event.key === "=") by(1.5);
      if (event.key === "-") by(1 / 1.5);
      if (event.key === "0") by(1 / scale);
      event.stopPropagation();
    };
    dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
    dialog.showModal();
    overlays(box());
    bar.querySelector("[data-zoom=close]").focus();
  }

  // ---- the raw record

  async function raw(turn) {
    const dialog = $(".mm-raw");
    const found = await mmrag.ask(server.show_record, { run: state.run, session: state.session, condition: state.condition, turn: turn + 1 });
    const bar = document.createElement("div"), pre = document.createElement("pre");
    bar.className = "mm-rawbar";
    const title = document.createElement("b"), copy = document.createElement("button"), close = document.createElement("button");
    title.textContent = `Turn ${turn + 1} as the run keeps it`;
    copy.type = close.type = "button"; copy.className = close.className = "mm-button";
    copy.textContent = "Copy"; close.textContent = "✕"; close.setAttribute("aria-label", "Close");
    copy.onclick = async () => { await navigator.clipboard.writeText(pre.textContent); copy.textContent = "Copied"; };
    close.onclick = () => dialog.close();
    bar.append(title, copy, close);
    pre.tabIndex = 0;
    pre.textContent = found.error || found.record + (found.cut ? "\n… cut here: the rest is in run.sqlite" : "");
    dialog.replaceChildren(bar, pre);
    dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
    dialog.showModal();
  }

  // ---- what is new in a run that is still being written

  let tick = null;
  function follow() {
    clearInterval(tick);
    if (state.finished || !state.run) return;
    tick = setInterval(async () => {
      const busy = () => mmrag.page() !== "replay" || document.hidden || document.activeElement?.classList.contains("mm-saynote");
      if (busy()) return;
      const mine = [asked, listing].join(), shown = list.querySelectorAll(".mm-row").length;
      const found = await server.follow_run({
        ...chosen(), run: state.run, session: state.session, condition: state.condition, version: state.version,
        outcomes: state.outcomes, turn: box() ? +box().dataset.current + 1 : "",
        offset: list.querySelector(".mm-list")?.dataset.first || "", count: shown,
      }).catch(() => ({}));
      if (mine !== [asked, listing].join() || busy() || found.error || found.version === undefined) return;
      state.version = found.version; state.finished = found.finished;
      if (found.list !== undefined) { const top = list.scrollTop; list.innerHTML = found.list; here(); more(); judged(found); list.scrollTop = top; }
      if (found.view !== undefined) told(found, { replace: true, keep: true, at: box() ? +box().dataset.current : null });
      if (state.finished) clearInterval(tick);
    }, 2500);
  }

  // ---- events

  root.addEventListener("mm-grown", ({ target }) => { if (+box().dataset.current) reveal(target); });

  root.addEventListener("click", async (event) => {
    const target = event.target;
    const opened = target.closest("[data-open]");
    if (opened) {
      const row = opened.closest("[data-session]"), session = row.dataset.session;
      const inside = !!opened.closest(".mm-conditions");
      const turn = session === state.session && box() ? +box().dataset.current + 1 : "";
      if (narrow() && !inside) { look("talk"); scrollTo(0, 0); deep = true; }
      await talk({ session, condition: opened.dataset.condition, turn }, { push: !inside });
      return;
    }
    if (target.closest("[data-clear], #mm-filter-clear")) {
      $("#mm-text").value = "";
      for (const one of filters.querySelectorAll("[data-filter]")) { if (one.type === "checkbox") one.checked = false; else one.value = ""; }
      narrowed();
      return;
    }
    const earlier = target.closest(".mm-before-these");
    if (earlier) {
      const found = await mmrag.ask(server.list_conversations, { ...chosen(), run: state.run, offset: earlier.dataset.offset });
      if (!found.error && earlier.isConnected) listed(found);
      return;
    }
    const toggle = target.closest("#mm-filter-toggle");
    if (toggle) {
      filters.hidden = !filters.hidden;
      toggle.setAttribute("aria-expanded", String(!filters.hidden));
      return;
    }
    const record = target.closest("[data-raw]");
    if (record) { raw(+record.dataset.raw); return; }
    const button = target.closest("[data-act], [data-goto]");
    if (button) {
      if (button.dataset.act) act(button.dataset.act); else { pause(); show(+button.dataset.goto); }
      return;
    }
    const summary = target.closest(".mm-detail > summary");
    if (summary) {
      const detail = summary.parentElement, turn = +detail.dataset.turn;
      fresh.details = !detail.open;
      if (+box().dataset.current !== turn) { event.preventDefault(); pause(); fresh.details = true; show(turn); }
      else requestAnimationFrame(() => reveal(turns()[+box().dataset.current])); // it may be another by then
      return;
    }
    if (target.closest(".mm-frame") && target.closest("#mm-view")) zoom();
  });

  root.addEventListener("input", (event) => {
    const target = event.target;
    if (target.id === "mm-run") { mmrag.go({ tab: "replay", run: target.value }); return; }
    if (target.id === "mm-text" || target.dataset.filter !== undefined) { narrowed(); return; }
    if (target.classList.contains("mm-toggle")) {
      view.querySelectorAll(`.mm-toggle[data-kind=${target.dataset.kind}]`).forEach((t) => { t.checked = target.checked; });
      overlays(box());
    }
  });

  // a picture that is gone says so instead of showing a torn page
  root.addEventListener("error", (event) => {
    if (event.target.tagName === "IMG") event.target.classList.add("mm-gone");
  }, true);

  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play", j: "down", k: "up", z: "zoom" };
  document.addEventListener("keydown", (event) => {
    if (mmrag.page() !== "replay" || !root.isConnected || !view.offsetParent) return;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest?.("input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]");
    if (event.key === "Escape" && event.target.id === "mm-text") { event.target.value = ""; narrowed(); event.target.blur(); return; }
    if (typing || (event.target.type === "range" && event.key.startsWith("Arrow"))) return;
    if (event.key === "/") { event.preventDefault(); $("#mm-text").focus(); return; }
    if (event.key === " " && event.target.closest?.("button, summary, a, input")) return;
    if (event.key === "e") { view.querySelector(".mm-now .mm-detail > summary")?.click(); return; }
    if (/^[1-9]$/.test(event.key)) { view.querySelectorAll(".mm-conditions [data-open]")[+event.key - 1]?.click(); return; }
    if (keys[event.key]) { event.preventDefault(); act(keys[event.key]); }
  });

  addEventListener("popstate", () => { deep = false; });
  mmrag.register("replay", open);
};
