// Live: what was asked last, and what came of it, is in view.
mmrag.live = (root) => {
  let seen = 0;
  mmrag.keepOpen(root);
  new MutationObserver(() => {
    const turns = root.querySelectorAll(".mm-live .mm-turn"), last = turns[turns.length - 1];
    const asked = turns.length > seen, answered = !root.querySelector("[role=status]");
    seen = turns.length;
    if (!last || !(asked || answered)) return;
    const end = last.querySelector(".mm-reply").getBoundingClientRect().bottom;
    const low = document.querySelector("#mm-askrow").getBoundingClientRect().top;
    if (last.getBoundingClientRect().top < 56 || end > low) last.scrollIntoView({ block: "start" });
  }).observe(root, { childList: true, subtree: true });
};

// Play: the address says which run is played, so that a page that is loaded again goes on with it.
mmrag.play = (root) => {
  const tell = () => {
    const run = root.querySelector(".mm-goal")?.dataset.run, there = mmrag.asked();
    if (there.tab !== "live" || !there.play) return;
    if (run && there.play !== run) mmrag.note({ play: run });
    if (!run && there.play !== "new" && root.querySelector(".mm-goal")) mmrag.note({ play: "new" });
  };
  new MutationObserver(tell).observe(root, { childList: true, subtree: true });
};
