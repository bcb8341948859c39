// Compare: two sides, the conversations whose turns flipped, and one of them side by side.
mmrag.compare = (root, server) => {
  const $ = (selector) => root.querySelector(selector);
  const state = { run: "", other: "", a: "", b: "", session: "" };
  let asked = 0, opening = 0, deep = false;
  const narrow = () => matchMedia("(max-width: 760px)").matches;
  const look = (what) => { $(".mm-compare").dataset.view = what; };

  function options(select, values, value) {
    select.replaceChildren(...values.map((one) => new Option(one, one, false, one === value)));
  }

  async function open(address) {
    const mine = ++opening;
    ++asked; // a pair of other runs
    const found = await mmrag.ask(server.open_compare, address);
    if (mine !== opening) return;
    const figures = $("#mm-differences");
    if (found.error) { figures.replaceChildren(message(found.error)); return; }
    figures.innerHTML = found.figures;
    if (!found.sides) return;
    const [a, b] = found.sides;
    Object.assign(state, { run: a.run, a: a.condition, other: b.run, b: b.condition, session: found.session });
    options($("#mm-run-a"), found.runs, a.run); options($("#mm-run-b"), found.runs, b.run);
    options($("#mm-condition-a"), a.conditions, a.condition); options($("#mm-condition-b"), b.conditions, b.condition);
    $("#mm-pairs").innerHTML = found.list;
    $("#mm-side-by-side").innerHTML = found.pair;
    look(address.session && narrow() ? "talk" : "list");
    here(true);
    note();
  }

  function note(push = false) {
    if (mmrag.page() !== "compare") return;
    mmrag.note({ ...state, session: narrow() && $(".mm-compare").dataset.view === "list" ? "" : state.session }, { push });
  }

  function message(words) {
    const p = document.createElement("p");
    p.className = "mm-message"; p.setAttribute("role", "alert"); p.textContent = words;
    return p;
  }

  function here(scroll = false) {
    for (const row of root.querySelectorAll("#mm-pairs .mm-row")) {
      const on = row.dataset.session === state.session;
      row.classList.toggle("mm-here", on);
      const button = row.querySelector("button");
      if (on) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
      if (on && scroll) {
        const pane = $("#mm-pairs");
        if (row.offsetTop < pane.scrollTop || row.offsetTop > pane.scrollTop + pane.clientHeight - 60) pane.scrollTop = row.offsetTop - 80;
      }
    }
  }

  async function show(session, push) {
    state.session = session;
    here();
    if (narrow()) { look("talk"); scrollTo(0, 0); deep = true; }
    note(push);
    const mine = ++asked;
    const found = await mmrag.ask(server.show_pair, state);
    if (mine !== asked) return;
    if (found.error) $("#mm-side-by-side").replaceChildren(message(found.error)); else $("#mm-side-by-side").innerHTML = found.pair;
  }

  root.addEventListener("click", (event) => {
    if (event.target.closest("#mm-swap")) {
      Object.assign(state, { run: state.other, a: state.b, other: state.run, b: state.a });
      open({ ...state });
      return;
    }
    if (event.target.closest(".mm-back")) { if (deep) history.back(); else { look("list"); note(); } return; }
    const row = event.target.closest("#mm-pairs .mm-row");
    if (row) show(row.dataset.session, true);
  });

  root.addEventListener("change", (event) => {
    const which = { "mm-run-a": "run", "mm-run-b": "other", "mm-condition-a": "a", "mm-condition-b": "b" }[event.target.id];
    if (!which) return;
    const next = { ...state, [which]: event.target.value };
    if (which === "run") next.a = "";
    if (which === "other") next.b = "";
    Object.assign(state, next); // what is chosen next is chosen beside it
    open(next);
  });

  addEventListener("popstate", () => { deep = false; });
  mmrag.register("compare", open);
};
