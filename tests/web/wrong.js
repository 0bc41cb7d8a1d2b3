// What is wrong with the look of a page as it is now: in words, and nothing where all is well.
() => {
  const found = [];
  const say = (what, node) => found.push(`${what}: ${node.tagName}.${node.className} ${node.textContent.trim().slice(0, 60)}`);
  const shown = (node) => node.checkVisibility() && node.getBoundingClientRect().width > 1 && !node.closest(".hidden, .skip");
  if (document.documentElement.scrollWidth > innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const scrolls = (node) => { for (let at = node; at; at = at.parentElement) if (["auto", "scroll"].includes(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return true; return false; };
  const isShort = (node) => { const style = getComputedStyle(node); return style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none"; };
  for (const node of document.querySelectorAll("main *, nav *, header *")) {
    if (!shown(node) || node.closest("svg, select, .ribbon, .meter, .timeline, long-list [aria-hidden]")) continue;
    const box = node.getBoundingClientRect();
    // What sticks out of the window and cannot be scrolled to.
    if (box.right > innerWidth + 1 && !scrolls(node)) say("sticks out", node);
    // Words that are cut off without a sign of it.
    const style = getComputedStyle(node);
    if (node.scrollWidth > node.clientWidth + 1 && style.overflowX === "hidden" && node.clientWidth && !isShort(node) && ![...node.children].some(isShort)) say("is cut off", node);
  }
  const boxes = [...document.querySelectorAll("main :is(a, button, h1, h2, h3, p, summary, input, textarea, .pill, .tag)")].filter((node) => shown(node) && !node.closest("tr, .scroller, .diff, .seen, .hidden, figure"));
  for (const [n, one] of boxes.entries()) {
    const a = one.getBoundingClientRect();
    for (const other of boxes.slice(n + 1)) {
      if (one.contains(other) || other.contains(one) || one.closest("chat-box") !== other.closest("chat-box")) continue;
      const b = other.getBoundingClientRect();
      if (a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2) say(`lies over ${other.tagName} ${other.textContent.trim().slice(0, 40)}`, one);
    }
  }
  return found;
}
