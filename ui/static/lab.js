// Lab: sliders for every kind, and a box that is drawn or tapped on in the picture.
mmrag.lab = (root, trigger) => {
  const form = root.querySelector(".mm-knobs");
  const page = () => document.querySelector("#mm-lab .mm-lab");
  let draw = null, waiting = null, split = 50;

  function spec() {
    return [...form.querySelectorAll(".mm-knob")].flatMap((knob) => {
      const severity = knob.querySelector("input").value, variant = knob.querySelector("select")?.value;
      return +severity ? [`${knob.dataset.kind}${variant ? `:${variant}` : ""}@${severity}`] : [];
    }).join("+") || "clean";
  }

  // One question at a time; what was set while the server worked is asked next. (Gradio would ask
  // again for what the first question said.)
  let number = 0, asked = "", next = null;
  function tell(more = {}) {
    const { focus, point } = "focus" in more || "point" in more ? {} : next || {};
    next = { focus, point, spec: spec(), seed: form.querySelector(".mm-seed").value || "0", ...more };
    pass();
  }
  function pass() {
    if (asked || !next) return;
    asked = String(++number);
    trigger("select", { ...JSON.parse(JSON.stringify(next)), number: asked });
    next = null;
    setTimeout(heard, 20000, asked); // an answer that never comes holds nothing up for longer
  }
  // a box waits for its own picture only
  const another = (event) => {
    if (next && event.target.closest?.("#mm-shelf [data-sample], #mm-upload")) { delete next.focus; delete next.point; }
  };
  document.addEventListener("click", another);
  document.addEventListener("change", another);
  function heard(answered) {
    if (answered !== asked) return;
    asked = "";
    pass();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    const knob = event.target.closest(".mm-knob");
    if (knob) knob.querySelector("output").value = knob.querySelector("input").value;
    if (event.target.classList.contains("mm-boxtext")) return;
    clearTimeout(waiting);
    waiting = setTimeout(tell, 120);
  });
  form.addEventListener("change", (event) => {
    if (event.target.classList.contains("mm-boxtext")) tell({ focus: event.target.value });
  });
  form.querySelector("[data-knob-reset]").addEventListener("click", () => {
    for (const one of form.querySelectorAll(".mm-knob input")) { one.value = 0; one.closest(".mm-knob").querySelector("output").value = 0; }
    tell();
  });

  // ---- the box, in shares of the picture's sides

  const within = (frame, event) => {
    const area = frame.getBoundingClientRect();
    return [(event.clientX - area.left) / area.width, (event.clientY - area.top) / area.height].map((v) => Math.max(0, Math.min(1, v)));
  };

  // Pixels of the picture before, which is what a box is about: the degraded one may be turned or cut.
  function before(lab, size, at, from) {
    const [x, y] = at.map((v, i) => v * size[i]);
    if (100 * from[0] < split) return [x, y];  // begun in the part that shows the picture before
    const [a, b, c, d, e, f, g, h, i] = lab.dataset.matrix.split(",").map(Number);
    const u = (e * i - f * h) * x + (c * h - b * i) * y + (b * f - c * e);
    const v = (f * g - d * i) * x + (a * i - c * g) * y + (c * d - a * f);
    const w = (d * h - e * g) * x + (b * g - a * h) * y + (a * e - b * d);
    return [u / w, v / w];
  }

  document.addEventListener("input", (event) => {
    if (event.target.closest?.(".mm-lab .mm-slide")) split = +event.target.value;
  });

  document.addEventListener("pointerdown", (event) => {
    const frame = event.target.closest?.(".mm-frame.mm-draw");
    if (!frame || event.button) return;
    event.preventDefault();
    draw = { frame, from: within(frame, event), to: null };
    frame.setPointerCapture?.(event.pointerId);
  });
  document.addEventListener("pointermove", (event) => {
    if (!draw) return;
    draw.to = within(draw.frame, event);
    const [[x0, y0], [x1, y1]] = [draw.from, draw.to], box = draw.frame.querySelector(".mm-drawn");
    if (Math.hypot((x1 - x0) * draw.frame.clientWidth, (y1 - y0) * draw.frame.clientHeight) < 6) return;
    box.hidden = false;
    box.classList.add("mm-shown");
    for (const old of draw.frame.querySelectorAll(".mm-focusbox")) old.classList.remove("mm-shown");
    Object.assign(box.style, { left: `${100 * Math.min(x0, x1)}%`, top: `${100 * Math.min(y0, y1)}%`, width: `${100 * Math.abs(x1 - x0)}%`, height: `${100 * Math.abs(y1 - y0)}%` });
  });
  document.addEventListener("pointercancel", () => { draw = null; });
  document.addEventListener("pointerup", (event) => {
    if (!draw) return;
    const { frame, from } = draw, to = within(frame, event), lab = page();
    draw = null;
    const size = [+lab.dataset.width, +lab.dataset.height];
    const far = Math.hypot((to[0] - from[0]) * frame.clientWidth, (to[1] - from[1]) * frame.clientHeight);
    if (far < 6) { frame.classList.add("mm-looking"); tell({ point: before(lab, size, from, from).map((v, i) => (v / size[i]).toFixed(5)).join(",") }); return; }
    const corners = [from, to, [from[0], to[1]], [to[0], from[1]]].map((at) => before(lab, size, at, from));
    const ends = [0, 1].map((i) => corners.map((at) => Math.round(Math.max(0, Math.min(size[i], at[i])))));
    const low = ends.map((all) => Math.min(...all)), high = ends.map((all, i) => Math.max(...all, low[i] + 1));
    tell({ focus: [...low, ...high].join(", ") });
  });

  // the exact box follows what was drawn or found
  new MutationObserver(() => {
    heard(document.querySelector("#mm-lab [data-asked]")?.dataset.asked);
    const text = form.querySelector(".mm-boxtext"), lab = page();
    if (lab && text !== document.activeElement) text.value = lab.dataset.focus;
    const frame = lab?.querySelector(".mm-frame"), slider = lab?.querySelector(".mm-slider");
    if (frame && frame.style.getPropertyValue("--mm-split") !== `${split}%`) {
      slider.value = split;  // the page was drawn anew; the slider stays where it was put
      frame.style.setProperty("--mm-split", `${split}%`);
    }
  }).observe(document.querySelector("#mm-lab") || document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-asked", "data-focus"] });
  mmrag.keepOpen(document.querySelector("#mm-lab") || document.body);
};
