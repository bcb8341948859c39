// Home: the board of runs. It is asked for again while something goes on; what was ticked, sorted and
// typed here stays.
mmrag.home = (root, server) => {
  const $ = (selector) => root.querySelector(selector);
  const board = $("#mm-board"), wrong = $("#mm-wrong");
  const state = { run: "", key: "when", down: true, ticked: [], shown: "", edition: "" };
  let timer = null, asked = 0;

  async function refresh(address = {}) {
    clearTimeout(timer);
    const mine = ++asked;
    const found = await mmrag.ask(server.show_board, { run: address.run ?? state.run });
    if (mine !== asked) return;
    if (found.error) {
      board.replaceChildren(message(found.error));
    } else {
      const other = found.run !== state.run;
      state.run = found.run;
      if (other) wrong.innerHTML = ""; // of the run before
      if (found.board !== state.shown) { state.shown = found.board; paint(found.board); }
      if ($("#mm-hero").dataset.shown !== found.hero) { $("#mm-hero").innerHTML = found.hero; $("#mm-hero").dataset.shown = found.hero; }
      if (mmrag.page() === "home" && found.run) mmrag.note({ run: found.run });
      wrong.style.setProperty("--kinds", found.kinds);
      wrong.hidden = !(found.readable || found.reading); // its place is kept, so that nothing is pushed down
      if (!found.readable) wrong.innerHTML = "";
      else if (other || found.edition !== state.edition) whatWentWrong(found.run);
      state.edition = found.edition;
    }
    timer = setTimeout(again, found.busy ? 2000 : 12000);
  }

  function again() {
    if (mmrag.page() === "home" && !document.hidden && !document.querySelector("dialog[open]") && root.isConnected) refresh();
    else timer = setTimeout(again, 2000);
  }

  function stopped(found) {
    if (found.error) board.prepend(message(found.error)); // it has ended by itself, say
    else refresh();
  }

  function message(words) {
    const p = document.createElement("p");
    p.className = "mm-message"; p.setAttribute("role", "alert"); p.textContent = words;
    return p;
  }

  async function whatWentWrong(run) {
    const slow = setTimeout(() => { if (run === state.run) wrong.innerHTML = '<p class="mm-empty" role="status">Reading what went wrong …</p>'; }, 600);
    const found = await mmrag.ask(server.show_wrong, { run });
    clearTimeout(slow);
    if (run !== state.run) return;
    if (found.wrong) wrong.innerHTML = found.wrong; else wrong.replaceChildren(message(found.error));
  }

  function paint(html) {
    const focused = board.contains(document.activeElement) ? document.activeElement.closest("tr")?.dataset.run : null;
    const which = document.activeElement?.getAttribute?.("aria-label");
    board.innerHTML = html;
    state.ticked = state.ticked.filter((run) => row(run));
    for (const run of state.ticked) row(run).querySelector("[type=checkbox]").checked = true;
    sort();
    filter();
    ticks();
    if (focused && which) row(focused)?.querySelector(`[aria-label="${CSS.escape(which)}"]`)?.focus();
  }

  const rows = () => [...board.querySelectorAll("tbody tr")];
  const row = (run) => rows().find((one) => one.dataset.run === run);

  function sort() {
    const key = `v${state.key[0].toUpperCase()}${state.key.slice(1)}`;
    const number = !["name", "agent", "data", "state"].includes(state.key);
    const value = (one) => { const v = one.dataset[key]; return number ? (v === "" ? NaN : +v) : v; };
    const sorted = rows().sort((a, b) => {
      const x = value(a), y = value(b);
      if (number && (Number.isNaN(x) || Number.isNaN(y))) return Number.isNaN(x) - Number.isNaN(y); // nothing known goes last
      const order = number ? x - y : x.localeCompare(y);
      return state.down ? -order : order;
    });
    board.querySelector("tbody")?.append(...sorted);
    for (const th of board.querySelectorAll("th[data-key]")) {
      if (th.dataset.key === state.key) th.setAttribute("aria-sort", state.down ? "descending" : "ascending"); else th.removeAttribute("aria-sort");
    }
  }

  function filter() {
    const words = $("#mm-board-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let seen = 0;
    for (const one of rows()) {
      const text = `${one.dataset.run} ${one.dataset.tags} ${one.dataset.note} ${one.dataset.vAgent} ${one.dataset.vData} ${one.dataset.vState}`.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      seen += !one.hidden;
    }
    const none = $("#mm-board-none");
    if (none) none.hidden = seen > 0;
  }

  function ticks() {
    const link = $("#mm-compare-two"), two = state.ticked.length === 2;
    link.textContent = state.ticked.length === 1 ? "Compare: tick one more" : "Compare two";
    if (two) {
      link.href = mmrag.query({ tab: "compare", run: state.ticked[0], other: state.ticked[1] });
      link.removeAttribute("aria-disabled");
    } else { link.removeAttribute("href"); link.setAttribute("aria-disabled", "true"); }
  }

  function dialog(id, fill, send) {
    const box = $(id), form = box.querySelector("form"), trouble = box.querySelector(".mm-message");
    trouble.hidden = true;
    fill(form);
    form.onsubmit = async (event) => {
      event.preventDefault();
      const button = form.querySelector("[type=submit]");
      button.disabled = true;
      const found = await mmrag.ask(send, Object.fromEntries(new FormData(form)));
      button.disabled = false;
      if (found.error) { trouble.textContent = found.error; trouble.hidden = false; return; }
      box.close();
      refresh(found.run ? { run: found.run } : {});
    };
    box.querySelector("[data-close]").onclick = () => box.close();
    box.showModal();
  }

  root.addEventListener("click", (event) => {
    const target = event.target, line = target.closest("tbody tr");
    const by = target.closest("[data-sort]");
    if (by) {
      const key = by.dataset.sort;
      state.down = state.key === key ? !state.down : ["score", "coverage", "n", "cost", "when", "conditions"].includes(key);
      state.key = key;
      sort();
      return;
    }
    if (target.closest("#mm-new-run")) { dialog("#mm-run-dialog", expect, server.start_run); return; }
    if (!line) return;
    const run = line.dataset.run;
    if (target.closest("button[data-note]")) {
      dialog("#mm-note-dialog", (form) => {
        $("#mm-note-title").textContent = run;
        form.elements.tags.value = line.dataset.tags;
        form.elements.note.value = line.dataset.note;
      }, (values) => server.save_note({ ...values, run, edition: line.dataset.edition }));
      return;
    }
    if (target.closest("[data-stop]")) { mmrag.ask(server.stop_run, { run }).then(stopped); return; }
    if (target.closest("a, input, .mm-rowactions")) return;
    for (const one of rows()) { one.classList.toggle("mm-here", one === line); }
    refresh({ run });
    scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  });

  root.addEventListener("change", (event) => {
    if (event.target.type !== "checkbox") return;
    const run = event.target.closest("tr").dataset.run;
    state.ticked = state.ticked.filter((one) => one !== run);
    if (event.target.checked) state.ticked.push(run);
    for (const one of state.ticked.splice(0, Math.max(0, state.ticked.length - 2))) row(one).querySelector("[type=checkbox]").checked = false;
    ticks();
  });

  // what a run will cost, at the pace of the newest like it
  function expect(form) {
    const { agent, data, pictures, limit } = form.elements;
    const like = rows().filter((one) => one.dataset.seconds && one.dataset.vAgent === agent.value.toLowerCase() && one.dataset.vData === data.value.toLowerCase()).sort((a, b) => b.dataset.vWhen - a.dataset.vWhen)[0];
    const many = limit.value * pictures.selectedOptions[0].dataset.conditions, minutes = like ? many * like.dataset.seconds / 60 : 0;
    $("#mm-run-cost").textContent = !like ? `${many} conversations. No finished run of this agent and data is here to tell what one costs: try one first.`
      : `${many} conversations: up to ${minutes < 1 ? "a minute" : `${Math.ceil(minutes)} minutes`} and $${(many * like.dataset.dollars).toFixed(2)}, as in ${like.dataset.run}.`;
  }

  root.addEventListener("input", (event) => {
    if (event.target.id === "mm-board-filter") filter();
    if (event.target.closest("#mm-run-dialog")) expect(event.target.form);
  });
  mmrag.register("home", (address) => refresh(address));
};
