// Robustness: a map whose cells lead to the photographs behind them.
mmrag.robustness = (root, server) => {
  const $ = (selector) => root.querySelector(selector);
  let run = "", asked = 0, opening = 0;

  const where = ({ condition = "", dimension = "", slice = "", stage = "" }) => ({ condition, dimension, slice, stage });

  async function open(address) {
    const mine = ++opening;
    if (run && address.run === run && $(".mm-breaking")) { chosen(address); return; }
    ++asked; // photographs of another run
    const found = await mmrag.ask(server.open_robustness, { run: address.run || "" });
    if (mine !== opening) return;
    if (found.error) { run = ""; say($("#mm-breaking"), found.error); return; }
    run = found.run;
    $("#mm-breaking").innerHTML = found.view;
    if (mmrag.page() === "robustness") mmrag.note({ run }); // else it came late
    chosen(address);
  }

  // what the address asks for, else the hardest condition
  function chosen(address) {
    const cells = [...root.querySelectorAll(".mm-cell[data-of]")];
    const asks = where(address);
    if (asks.condition) { examples(asks, false); return; }
    const worst = cells.sort((a, b) => value(a) - value(b))[0];
    if (worst) examples(where(worst.dataset), false);
  }

  const value = (cell) => parseFloat(cell.textContent.replace("−", "-").replace(/[^\d.-]/g, ""));

  async function examples(asks, noted = true) {
    const same = (cell) => JSON.stringify(where(cell.dataset)) === JSON.stringify(asks);
    for (const cell of root.querySelectorAll(".mm-cell, .mm-stagepart")) {
      if (same(cell)) cell.setAttribute("aria-pressed", "true"); else cell.removeAttribute("aria-pressed");
    }
    const kind = root.querySelector(".mm-cell[aria-pressed=true][data-of]")?.dataset.of;
    if (kind) curve(kind);
    if (noted) mmrag.note(asks, { push: true });
    const box = $("#mm-examples"), mine = ++asked;
    if (!box) return;
    box.style.minHeight = `${box.offsetHeight}px`; // what stands below stays
    say(box, `The photographs of ${asks.condition} are loading …`, "status");
    const found = await mmrag.ask(server.show_examples, { run, ...asks });
    if (mine !== asked) return;
    if (found.error) say(box, found.error); else box.innerHTML = found.view;
    box.style.minHeight = "";
    if (noted) {
      const top = box.getBoundingClientRect().top, gone = top < 60 || top > innerHeight - 260;
      if (gone) box.scrollIntoView({ block: "start" });
    }
  }

  function say(box, words, role = "alert") {
    const p = document.createElement("p");
    p.className = "mm-message";
    p.setAttribute("role", role);
    p.textContent = words;
    box.replaceChildren(p);
  }

  function curve(kind) {
    for (const figure of root.querySelectorAll("[data-curveof]")) figure.hidden = figure.dataset.curveof !== kind;
    for (const row of root.querySelectorAll(".mm-map tr[data-kind]")) row.classList.toggle("mm-here", row.dataset.kind === kind);
  }

  function picked(target) {
    const cell = target.closest(".mm-cell, .mm-stagepart[data-condition], .point");
    if (cell?.dataset.condition) { examples(where(cell.dataset)); return true; }
    const named = target.closest("[data-curve]");
    if (named) curve(named.dataset.curve);
    return !!named;
  }

  root.addEventListener("click", (event) => picked(event.target));
  root.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.classList.contains("point")) {
      event.preventDefault();
      picked(event.target);
    }
  });
  root.addEventListener("change", (event) => {
    if (event.target.id === "mm-robust-run") mmrag.go({ tab: "robustness", run: event.target.value });
  });
  mmrag.register("robustness", open);
};
