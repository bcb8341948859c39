// Replays a run from what lies beside this page, or in it. Whatever the data says becomes text:
// nothing here makes HTML of a string.
"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => document.documentElement.classList.toggle("dark", dark.matches);
  dark.addEventListener("change", theme);
  theme();
  const board = JSON.parse(document.getElementById("board").textContent);
  const $ = (id) => document.getElementById(id);
  const MARKS = { perfect: "✓", acceptable: "✓", missing: "○", incorrect: "✕" };
  const KINDS = { perfect: "right", acceptable: "right", missing: "missing", incorrect: "wrong" };
  const mark = (o) => MARKS[o] || (o === "skipped_after_stop" || o === "" ? "–" : "!");
  const kind = (o) => KINDS[o] || (o === "skipped_after_stop" || o === "" ? "none" : "unscored");
  const PAGE = 200;
  const here = { row: null, condition: "", turn: 0, view: null, played: false };
  let found = board.rows, shown = PAGE, timer = 0;

  function make(tag, attributes, ...inside) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
      else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...inside.flat().filter((one) => one != null && one !== false));
    return node;
  }
  const clock = (s) => (s < 0.0995 ? `${(s * 1000).toFixed(0)} ms` : s < 10 ? `${s.toFixed(2)} s` : `${s.toFixed(0)} s`);
  const facts = (rows) => make("dl", {}, rows.flatMap(([name, value]) => [make("dt", {}, name.replaceAll("_", " ")), make("dd", {}, value)]));
  const part = (title, ...inside) => make("section", {}, make("h4", {}, title), ...inside);

  // ---- what lies in other files (a folder) or in this one

  const waiting = new Map(), loaded = new Map();
  window.mmragTalks = (name, text) => {
    loaded.set(name, JSON.parse(text));
    for (const done of waiting.get(name) || []) done(loaded.get(name));
    waiting.delete(name);
  };

  function block(name) {
    if (loaded.has(name)) return Promise.resolve(loaded.get(name));
    const inside = $(`talks-${name}`);
    if (inside) {
      loaded.set(name, JSON.parse(inside.textContent));
      return Promise.resolve(loaded.get(name));
    }
    return new Promise((done, failed) => {
      if (waiting.has(name)) { waiting.get(name).push(done); return; }
      waiting.set(name, [done]);
      const script = make("script", { src: `talks/${name}.js`, on: { error: () => { waiting.delete(name); failed(); } } });
      document.head.append(script);
    });
  }

  let inlined = null;
  function picture(name) {
    if (!board.inline) return `pictures/${name}`;
    inlined = inlined || JSON.parse($("pictures").textContent);
    return inlined[name] || "";
  }

  // ---- the list

  function narrow() {
    const words = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = $("outcome").value;
    found = board.rows.filter((row) => {
      const text = `${row.session}\n${row.text}`.toLowerCase();
      return words.every((word) => text.includes(word)) &&
        (!wanted || row.held.some((one) => one.outcomes.some((o) => kind(o) === wanted)));
    });
    shown = PAGE;
    list();
  }

  function list() {
    const all = board.rows.length, many = (n) => `${n} conversation${n === 1 ? "" : "s"}`;
    $("count").textContent = found.length === all ? many(all) : `${found.length} of ${many(all)}`;
    const rows = found.slice(0, shown).map((row) => {
      const dots = (one) => make("span", { class: "dots" }, one.outcomes.map((o) => make("i", { class: `o-${kind(o)}`, title: o.replaceAll("_", " ") }, mark(o))));
      const inner = row.held.length > 1
        ? make("div", { class: "chips" }, row.held.map((one) => make("button", { type: "button", "aria-pressed": String(row === here.row && one.condition === here.condition), on: { click: (event) => { event.stopPropagation(); go(row, one.condition, 0); } } }, `${one.condition} `, dots(one))))
        : make("div", { class: "line" }, dots(row.held[0]), make("span", { class: "small" }, row.held[0].condition === "clean" ? row.session : `${row.session} · ${row.held[0].condition}`));
      return make("li", { class: row === here.row && "here", "aria-current": row === here.row && "true", on: { click: () => go(row, row.held[0].condition, 0) } },
        make("a", { class: "q", href: address(row, row.held[0].condition, 0), on: { click: (event) => { event.preventDefault(); } } }, row.text.split("\n")[0]), inner);
    });
    if (found.length > shown) rows.push(make("li", { class: "more", on: { click: () => { shown += PAGE; list(); } } }, `show ${Math.min(PAGE, found.length - shown)} more`));
    if (!found.length) rows.push(make("li", { class: "empty" }, board.rows.length ? "No conversation matches. " : "This run has no conversation.", board.rows.length ? make("button", { type: "button", on: { click: () => { $("search").value = ""; $("outcome").value = ""; narrow(); } } }, "show all") : null));
    $("list").replaceChildren(...rows);
  }

  const reveal = () => document.querySelector("#list li.here")?.scrollIntoView({ block: "nearest" });

  // ---- the address: #conversation/turn, or #conversation/condition/turn

  function address(row, condition, turn) {
    const middle = condition === row.held[0].condition ? "" : `${encodeURIComponent(condition)}/`;
    return `#${encodeURIComponent(row.session)}/${middle}${turn + 1}`;
  }
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

  function follow() {
    const parts = location.hash.slice(1).split("/").map(decoded);
    if (!parts[0]) {
      document.body.dataset.view = "list";
      if (!here.row && board.rows.length) show(board.rows[0], board.rows[0].held[0].condition, 0, false);
      return;
    }
    const row = board.rows.find((one) => one.session === parts[0]);
    const condition = parts.length > 2 ? parts[1] : row?.held[0].condition;
    if (!row || !row.held.some((one) => one.condition === condition)) {
      stop();
      document.body.dataset.view = "talk";
      here.row = null;
      $("talk").replaceChildren(back(), make("p", { class: "empty" }, `This bundle has no conversation ${parts.slice(0, -1).join(" under ") || parts[0]}. Choose one from the list.`));
      list();
      return;
    }
    show(row, condition, (parseInt(parts.at(-1), 10) || 1) - 1, true);
  }

  function go(row, condition, turn) {
    const wanted = address(row, condition, turn);
    if (location.hash === wanted) follow(); else location.hash = wanted;
  }

  async function show(row, condition, turn, opened) {
    const held = row.held.find((one) => one.condition === condition);
    if (opened) document.body.dataset.view = "talk";
    if (here.row === row && here.condition === condition && here.view) { step(turn, false); return; }
    stop();
    Object.assign(here, { row, condition, turn, view: null });
    list();
    reveal();
    try {
      const talks = await block(held.block);
      if (here.row !== row || here.condition !== condition) return;
      here.view = talks[held.place];
    } catch {
      $("talk").replaceChildren(back(), make("p", { class: "empty" }, `talks/${held.block}.js lies no longer beside this page; copy the whole folder.`));
      return;
    }
    draw();
    step(turn, false);
    if (matchMedia("(max-width: 760px)").matches && opened) scrollTo(0, 0); else $("talk").scrollTop = 0;
    if (turn) step(turn, true);
  }

  // ---- a conversation

  const back = () => make("button", { type: "button", class: "back", on: { click: () => { location.hash = ""; document.body.dataset.view = "list"; reveal(); } } }, "← list");

  function draw() {
    const view = here.view;
    const chips = here.row.held.length > 1 && make("div", { class: "chips", role: "group", "aria-label": "Conditions" },
      here.row.held.map((one) => make("button", { type: "button", "aria-pressed": String(one.condition === here.condition), on: { click: () => go(here.row, one.condition, here.turn) } }, one.condition)));
    const player = make("div", { class: "player", role: "group", "aria-label": "Player" },
      make("button", { type: "button", id: "prev", "aria-label": "Previous turn", on: { click: () => move(-1) } }, "←"),
      make("button", { type: "button", id: "play", on: { click: play } }, "▶ Play"),
      make("button", { type: "button", id: "next", "aria-label": "Next turn", on: { click: () => move(1) } }, "→"),
      make("span", { class: "where" }));
    const about = [here.condition === "clean" ? null : here.condition, here.row.quality === "normal" ? null : here.row.quality, view.query_time && `asked ${view.query_time}`].filter(Boolean).join(" · ");
    $("talk").replaceChildren(
      make("div", { class: "head" }, back(), make("h2", {}, view.session_id), make("span", { class: "small" }, about), player),
      chips || "",
      make("div", { class: "stage" }, left(view), make("ol", {}, view.turns.map(turn))));
    $("talk").setAttribute("aria-label", `Conversation ${view.session_id}`);
  }

  function isShownFirst(kind) { return kind === "focus" || kind === "gaze"; }

  function left(view) {
    if (!view.picture) return make("p", { class: "left empty" }, view.has_picture ? "The picture of this conversation could not be read." : "A conversation without a picture.");
    const frame = make("div", { class: "frame" }, make("img", { src: picture(view.picture), alt: "What the assistant saw" }));
    const boxes = [...view.overlays.map((box) => [box, "all"]), ...view.turns.flatMap((one) => one.overlays.map((box) => [box, one.index]))];
    let slide = null;
    if (view.before) {
      const before = make("img", { class: "before", src: picture(view.before), alt: "The same picture before" });
      const set = (value) => { before.style.clipPath = `inset(0 ${100 - value}% 0 0)`; };
      set(0);
      frame.append(before);
      slide = make("label", { class: "slide" }, "as seen", make("input", { type: "range", min: 0, max: 100, value: 0, "aria-label": "How much of the picture before", on: { input: (event) => set(event.target.value) } }), "before");
    }
    for (const [box, of] of boxes) {
      const node = make("span", { class: `k-${box.kind}`, "data-kind": box.kind, "data-for": of, title: box.label });
      for (const side of ["left", "top", "width", "height"]) node.style[side] = `${box[side]}%`;
      node.hidden = !isShownFirst(box.kind);
      frame.append(node);
    }
    const names = { gaze: "gaze given", region: "regions", ocr: "text read", focus: "truth: not given to the assistant" };
    const toggles = Object.keys(names).filter((one) => boxes.some(([box]) => box.kind === one)).map((one) =>
      make("label", { class: `of-${one}` }, make("input", { type: "checkbox", "data-toggle": one, checked: isShownFirst(one), on: { change: overlays } }), ` ${names[one]}`));
    return make("figure", { class: "left" }, frame, slide, make("figcaption", { class: "toggles" }, toggles),
      view.record.length ? make("details", {}, make("summary", {}, "What was done to the picture"), facts(view.record)) : null);
  }

  function overlays() {
    for (const box of document.querySelectorAll(".frame span")) {
      const on = document.querySelector(`[data-toggle="${box.dataset.kind}"]`)?.checked;
      box.hidden = !on || !["all", String(here.turn)].includes(box.dataset.for);
    }
  }

  function turn(one) {
    const item = make("li", { class: "turn", "data-turn": one.index }, make("button", { type: "button", class: "ask", on: { click: () => go(here.row, here.condition, one.index) } }, make("span", { class: "n" }, String(one.index + 1)), one.query));
    if (one.skipped) { item.append(make("p", { class: "note" }, "– not asked: the wearer had given up")); return item; }
    if (one.status === "waiting") { item.append(make("p", { class: "note" }, "– not asked yet")); return item; }
    if (one.picture) item.append(make("img", { class: "look", src: picture(one.picture), alt: "Another picture, taken for this turn", loading: "lazy" }));
    if (one.move) item.append(make("p", { class: "small soft" }, one.move));
    if (one.heard) item.append(make("p", { class: "small soft" }, `heard: ${one.heard.text || "nothing"}`));
    const outcome = one.outcome === "unscored" ? one.status.replaceAll("_", " ") : one.outcome;
    item.append(
      one.reply ? make("p", { class: "reply" }, one.reply) : "",
      one.asks ? make("p", { class: "small soft" }, `asks: ${one.asks}`) : "",
      one.error ? make("p", { class: "note" }, one.error) : "",
      make("p", { class: "line" }, make("span", { class: `word o-${kind(one.outcome)}` }, `${mark(one.outcome)} ${outcome}`), make("span", {}, make("span", { class: "soft" }, "truth "), one.reference), make("span", { class: "small" }, clock(one.seconds))),
      one.strike ? make("p", { class: "strike" }, one.strike) : "",
      make("details", {}, make("summary", {}, "how it got there"), make("div", { class: "behind" }, behind(one))));
    return item;
  }

  function behind(one) {
    const judged = [...one.votes.map((v) => [v.judge, `${v.outcome}${v.reason ? `: ${v.reason}` : ""}`]), ...one.measures.map((m) => [m.measure, `${m.value} (${m.judge})${m.why ? `: ${m.why}` : ""}`])];
    const about = [["also accepted", one.accepted.join("; ")], ["confidence", one.confidence == null ? "" : one.confidence.toFixed(2)], ["tokens", one.tokens[0] || one.tokens[1] ? `${one.tokens[0]} in, ${one.tokens[1]} out` : ""], ["cost", one.cost ? `$${one.cost.toFixed(5)}` : ""], ...one.labels.map(([n, v]) => [n, v || "yes"])].filter(([, value]) => value);
    const bars = one.bars.map((bar) => {
      const fill = make("i", {}), name = make("span", { class: "name", title: bar.name }, bar.name);
      fill.style.left = `${bar.left}%`; fill.style.width = `${bar.width}%`; name.style.paddingLeft = `${bar.depth * 10}px`;
      return make("div", { class: "bar" }, name, make("span", { class: "track" }, fill), make("span", { class: "time" }, clock(bar.seconds)));
    });
    const hits = one.hits.map((hit) => make("li", { class: hit.cited ? "hit cited" : "hit" }, hit.picture ? make("img", { src: picture(hit.picture), alt: "", loading: "lazy", width: 96, height: 96 }) : null, make("b", {}, hit.name), make("span", { class: "soft" }, ` similarity ${hit.score.toFixed(3)}${hit.cited ? ", cited" : ""}`), hit.attributes.length ? make("details", {}, make("summary", {}, "attributes"), facts(hit.attributes)) : null));
    const passages = one.passages.map((p) => make("li", { class: p.cited ? "item cited" : "item" }, make("b", {}, p.title || p.url || p.id), make("span", { class: "soft" }, ` ${[p.date, p.label, p.cited && "cited"].filter(Boolean).join(" · ")}`), make("p", {}, p.before, p.used ? make("mark", {}, p.used) : "", p.after)));
    return [
      judged.length ? part("Judged", facts(judged)) : null,
      about.length ? part("The turn", facts(about)) : null,
      one.plan.length ? part("Plan", facts(one.plan)) : null,
      one.read.length ? part("Read in the picture", make("p", {}, one.read.slice(0, 20).join(" · "))) : null,
      bars.length ? part("Where the time went", ...bars) : null,
      hits.length ? part("Image knowledge graph", make("ul", { class: "hits" }, hits)) : null,
      passages.length ? part("Passages", make("ul", {}, passages)) : null,
    ];
  }

  // ---- stepping

  function step(wanted, scroll = true) {
    const turns = here.view.turns.length;
    here.turn = Math.min(Math.max(wanted, 0), Math.max(turns - 1, 0));
    for (const item of document.querySelectorAll("#talk .turn")) {
      const index = +item.dataset.turn;
      item.classList.toggle("here", index === here.turn);
      item.classList.toggle("later", here.played && index > here.turn);
      if (index === here.turn && scroll) item.scrollIntoView({ block: "nearest" });
    }
    document.querySelector(".where").textContent = `turn ${turns ? here.turn + 1 : 0} of ${turns}`;
    $("prev").disabled = here.turn === 0;
    $("next").disabled = here.turn >= turns - 1;
    overlays();
  }

  function move(by) {
    if (!here.view) return;
    const wanted = here.turn + by;
    if (wanted < 0 || wanted >= here.view.turns.length) return;
    history.replaceState(null, "", address(here.row, here.condition, wanted));
    step(wanted);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    here.played = false;
    const button = $("play");
    if (button) button.textContent = "▶ Play";
    for (const item of document.querySelectorAll("#talk .later")) item.classList.remove("later");
  }

  function play() {
    if (timer) { stop(); return; }
    if (!here.view || !here.view.turns.length) return;
    here.played = true;
    step(here.turn >= here.view.turns.length - 1 ? 0 : here.turn);
    $("play").textContent = "❚❚ Pause";
    timer = setInterval(() => { if (here.turn >= here.view.turns.length - 1) stop(); else move(1); }, 1800);
  }

  function neighbour(by) {
    const place = found.indexOf(here.row) + by;
    if (place >= 0 && place < found.length) go(found[place], found[place].held[0].condition, 0);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const act = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), n: () => neighbour(1), p: () => neighbour(-1), "/": () => $("search").focus() }[event.key] || (event.key === " " && !event.target.closest("button, summary, a") && play);
    if (act) { event.preventDefault(); act(); }
  });
  $("search").addEventListener("input", narrow);
  $("outcome").addEventListener("change", narrow);
  addEventListener("hashchange", follow);
  document.body.dataset.view = "list";
  list();
  follow();
})();
