// Compare: two sides, what differs, and all conversations of both, flipped turns first.
mmrag.compare = (root, server) => {
  const $ = (selector) => root.querySelector(selector);
  const state = { run: "", other: "", a: "", b: "", session: "" };
  let opening = 0;

  function options(select, values, value) {
    select.replaceChildren(...values.map((one) => new Option(one, one, false, one === value)));
  }

  async function open(address) {
    const mine = ++opening;
    const found = await mmrag.ask(server.open_compare, address);
    if (mine !== opening) return;
    const figures = $("#mm-differences");
    if (found.error) { figures.replaceChildren(message(found.error)); return; }
    figures.innerHTML = found.figures;
    if (!found.sides) return;
    const [a, b] = found.sides;
    Object.assign(state, { run: a.run, a: a.condition, other: b.run, b: b.condition, session: address.session || "" });
    options($("#mm-run-a"), found.runs, a.run); options($("#mm-run-b"), found.runs, b.run);
    options($("#mm-condition-a"), a.conditions, a.condition); options($("#mm-condition-b"), b.conditions, b.condition);
    $("#mm-pairs").innerHTML = found.pairs;
    if (mmrag.page() === "compare") mmrag.note(state);
    watch();
  }

  function message(words) {
    const p = document.createElement("p");
    p.className = "mm-message"; p.setAttribute("role", "alert"); p.textContent = words;
    return p;
  }

  // the next conversations are asked for before the end of those that are there is in sight
  const near = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) more(); }, { rootMargin: "1500px" });
  function watch() { near.disconnect(); const end = $(".mm-morepairs"); if (end) near.observe(end); }

  async function more() {
    near.disconnect();
    const mine = opening, end = $(".mm-morepairs");
    const found = await mmrag.ask(server.show_pairs, { ...state, after: end.dataset.after });
    if (mine !== opening) return;
    if (found.error) { end.querySelector("td").replaceChildren(message(found.error)); return; }
    end.outerHTML = found.pairs;
    watch();
  }

  root.addEventListener("click", (event) => {
    if (event.target.closest("#mm-swap")) open({ run: state.other, a: state.b, other: state.run, b: state.a });
  });

  root.addEventListener("change", (event) => {
    const which = { "mm-run-a": "run", "mm-run-b": "other", "mm-condition-a": "a", "mm-condition-b": "b" }[event.target.id];
    if (!which) return;
    state[which] = event.target.value; // what is chosen next is chosen beside it
    open({ ...state });
  });

  mmrag.register("compare", open);
};
