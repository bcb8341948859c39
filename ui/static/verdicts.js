// People's verdicts on Replay: one key for the selected turn.
// Everything is kept on the server; this only asks, and shows what it answers.
mmrag.verdicts = (root, server) => {
  const $ = (selector) => root.querySelector(selector);
  const state = { run: "", session: "", condition: "" };
  let asked = 0, busy = Promise.resolve();
  let pending = null; // what was said before its form was there
  const drafts = new Map(); // notes that are written and not yet kept

  const place = (turn) => JSON.stringify([state.run, state.session, state.condition, turn]);
  const now = () => root.querySelector(".mm-turn.mm-now");

  function person() {
    let name = "";
    try { name = localStorage.getItem("mmrag-person") || ""; } catch { name = person.name || ""; }
    if (!name) {
      name = `reader-${Math.random().toString(36).slice(2, 6)}`;
      named(name);
    }
    return name;
  }

  function named(name) {
    person.name = name;
    try { localStorage.setItem("mmrag-person", name); } catch { /* a browser that keeps nothing */ }
  }

  // ---- one conversation

  root.addEventListener("mm-conversation", (event) => {
    Object.assign(state, { run: event.detail.run, session: event.detail.session, condition: event.detail.condition });
    $(".mm-person").value = person();
    refresh(!event.detail.keep);
  });

  root.addEventListener("mm-turn", ({ detail }) => {
    if (detail.run === state.run && detail.session === state.session && detail.condition === state.condition) settle();
  });

  // A key that came before its form is meant for the turn that was selected; whoever goes to
  // another conversation meanwhile has said nothing.
  function settle() {
    if (!pending) return;
    const { said, where } = pending;
    const turn = JSON.parse(where || "[]").at(-1);
    if (place(turn) !== where) pending = null;
    else if (formOf(turn)) { pending = null; say(turn, said); }
  }

  const formOf = (turn) => root.querySelector(`.mm-verdict[data-turn="${turn}"] .mm-sayform`);

  function key(turn, said) {
    if (formOf(turn)) say(turn, said);
    else pending = { said, where: place(turn) };
  }

  async function refresh(arrived = false) {
    const mine = ++asked;
    const found = await mmrag.ask(server.show_verdicts, { ...whereabouts(), person: person() });
    if (mine !== asked) return;
    filled(found);
    if (arrived) now()?.dispatchEvent(new CustomEvent("mm-grown", { bubbles: true }));
  }

  const whereabouts = () => ({ run: state.run, session: state.session, condition: state.condition });

  function filled(found) {
    if (found.error) return;
    const typing = document.activeElement?.classList.contains("mm-saynote") ? document.activeElement : null;
    const turn = typing?.closest(".mm-verdict")?.dataset.turn, mark = typing && [typing.selectionStart, typing.selectionEnd];
    for (const slot of root.querySelectorAll(".mm-verdict[data-turn]")) {
      slot.innerHTML = found.turns[slot.dataset.turn] || "";
      const draft = drafts.get(place(slot.dataset.turn)), note = slot.querySelector(".mm-saynote");
      if (note && draft !== undefined) note.value = draft;
    }
    if (typing) {
      const again = root.querySelector(`.mm-verdict[data-turn="${turn}"] .mm-saynote`);
      again?.focus();
      again?.setSelectionRange(...mark);
    }
    otherwise(found.otherwise);
    settle();
  }

  // Who decided otherwise than a mark in the list or on a condition: a dot at it.
  function otherwise(found) {
    const words = (said) => said.map(([who, what]) => `${who === person() ? "you" : who} said ${what}`).join(", ");
    for (const chip of root.querySelectorAll(".mm-cond, .mm-conditions [data-open]")) {
      const conditions = found[chip.closest("[data-session]").dataset.session];
      if (!conditions) continue;
      const turns = conditions[chip.dataset.condition] || {}, all = words(Object.values(turns).flat());
      chip.querySelectorAll(".mm-dots i").forEach((dot, n, dots) => {
        dot.title = dots.length > 1 ? words(turns[n] || []) : all;
        dot.classList.toggle("mm-otherwise", !!dot.title);
      });
      chip.ariaDescription = all;
    }
  }
  root.addEventListener("mm-listed", (event) => otherwise(event.detail));

  function trouble(turn, words) {
    const box = root.querySelector(`.mm-verdict[data-turn="${turn}"] .mm-sayerror`);
    if (box) { box.textContent = words; box.hidden = false; }
  }

  function say(turn, said) {
    const slot = formOf(turn)?.closest(".mm-verdict");
    if (!slot) return;
    const pressed = slot.querySelector(".mm-sayit[aria-pressed=true]")?.dataset.say;
    const note = slot.querySelector(".mm-saynote").value;
    const what = { ...whereabouts(), turn: +turn + 1, said: said === pressed ? "withdrawn" : said, note, person: person() };
    keep(turn, what);
  }

  function keep(turn, what) {
    const where = place(turn);
    drafts.set(where, what.note);
    busy = busy.then(async () => { // one after the other, in the order of the keys
      const found = await mmrag.ask(server.say_verdict, what);
      if (found.error) { if (place(turn) === where) trouble(turn, found.error); return; }
      if (drafts.get(where) === what.note) drafts.delete(where);
      if (place(turn) === where) {
        ++asked;
        filled(found);
        const saved = formOf(turn)?.querySelector(".mm-saved"); // read out, as it is there before its word
        setTimeout(() => { if (saved) saved.textContent = what.said === "withdrawn" ? "taken back" : "saved"; }, 50);
      }
    });
  }

  // ---- events

  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-say]");
    if (button) say(button.closest(".mm-verdict").dataset.turn, button.dataset.say);
  });

  root.addEventListener("submit", (event) => {
    const form = event.target.closest(".mm-sayform");
    if (!form) return;
    event.preventDefault();
    noted(form, true);
  });

  // a note goes with the verdict; without one it waits for it
  function noted(form, asking = false) {
    const note = form.querySelector(".mm-saynote"), turn = form.dataset.turn;
    const said = form.querySelector(".mm-sayit[aria-pressed=true]")?.dataset.say;
    if (said && note.value.trim() !== note.defaultValue.trim()) {
      note.defaultValue = note.value; // Enter is told twice, as it sends and as it changes
      keep(turn, { ...whereabouts(), turn: +turn + 1, said, note: note.value, person: person() });
    } else if (!said && asking) trouble(turn, "A note is kept with a verdict: say right, wrong, missing or unsure.");
  }

  root.addEventListener("input", (event) => {
    const note = event.target, form = note.closest(".mm-sayform");
    if (!note.classList.contains("mm-saynote")) return;
    drafts.set(place(form.dataset.turn), note.value);
    const then = form.querySelector("[aria-pressed=true]") ? "Enter keeps the note" : "kept with a verdict";
    form.querySelector(".mm-saved").textContent = note.value === note.defaultValue ? "" : then;
  });

  root.addEventListener("change", (event) => {
    if (event.target.classList.contains("mm-saynote")) noted(event.target.closest(".mm-sayform"));
    if (event.target.classList.contains("mm-person")) {
      named(event.target.value.trim());
      event.target.value = person();
      refresh();
    }
  });

  const keys = { y: "right", n: "wrong", m: "missing", "?": "unsure" };
  document.addEventListener("keydown", (event) => {
    const turn = now()?.dataset.turn;
    if (mmrag.page() !== "replay" || turn === undefined || !now().offsetParent) return;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.closest?.("input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]")) {
      if (event.key === "Escape" && event.target.classList.contains("mm-saynote")) event.target.blur();
      return;
    }
    if (keys[event.key]) key(turn, keys[event.key]);
    else if (event.key === "t") now().querySelector(".mm-saynote")?.focus();
    else return;
    event.preventDefault();
  });
};
