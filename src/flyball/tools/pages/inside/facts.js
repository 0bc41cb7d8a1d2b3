// What can be seen of a page without an opinion. Read by browse.py, run in the page.
() => {
  const styleOf = (node) => window.getComputedStyle(node);
  const isVisible = (node) => {
    const box = node.getBoundingClientRect();
    const style = styleOf(node);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && Number(style.opacity) > 0.01;
  };
  const colour = (text) => {
    const found = /rgba?\(([^)]+)\)/.exec(text);
    if (!found) return null;
    const parts = found[1].split(/[\s,/]+/).filter(Boolean).map(Number);
    return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((each) => {
      const part = each / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // Behind a picture or a gradient nobody can tell the colour, so nothing is said of it.
  const behind = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const style = styleOf(each);
      if (style.backgroundImage !== "none") return null;
      const found = colour(style.backgroundColor);
      if (found && found.alpha === 1) return found.rgb;
      if (found && found.alpha > 0) return null;
    }
    return [255, 255, 255];
  };
  const name = (node) => node.tagName.toLowerCase() + (node.id ? `#${node.id}` : "");

  const pale = [];
  const walker = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
  for (let seen = 0; walker.nextNode() && seen < 500 && pale.length < 5; ) {
    const words = walker.currentNode.nodeValue.trim();
    const node = walker.currentNode.parentElement;
    if (!words || !node || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.tagName) || !isVisible(node)) continue;
    seen += 1;
    const front = colour(styleOf(node).color);
    const back = behind(node);
    if (!front || !back || front.alpha < 1) continue;
    const [dark, bright] = [light(front.rgb), light(back)].sort((a, b) => a - b);
    const ratio = (bright + 0.05) / (dark + 0.05);
    if (ratio < 3) pale.push(`${name(node)} "${words.slice(0, 40)}" (${ratio.toFixed(1)}:1)`);
  }

  const shown = (selector) => [...document.querySelectorAll(selector)].filter(isVisible);
  const text = (document.body?.innerText ?? "").trim();
  const things = shown("img, svg, canvas, video, iframe, input, button, textarea, select, hr");
  const painted = shown("body *").filter((node) => {
    const style = styleOf(node);
    const back = colour(style.backgroundColor);
    return (back && back.alpha > 0) || style.backgroundImage !== "none" || parseFloat(style.borderTopWidth) > 0;
  });
  const sheets = [...document.styleSheets];
  const rules = sheets.reduce((sum, sheet) => {
    try {
      return sum + sheet.cssRules.length;
    } catch {
      return sum + 1;
    }
  }, 0);
  const linked = [...document.querySelectorAll('link[rel~="stylesheet"]')];
  const root = document.documentElement;
  const overlays = ["vite-error-overlay", "nextjs-portal", "#webpack-dev-server-client-overlay", ".react-error-overlay",
    ".debugger .traceback", "#django-debug-error", "body > #summary + #traceback"];
  return {
    title: document.title,
    text,
    blank: !text && things.length === 0 && painted.length === 0,
    overlay: overlays.filter((selector) => document.querySelector(selector)),
    overlayText: (document.querySelector("vite-error-overlay")?.shadowRoot?.textContent ?? "").trim().slice(0, 600),
    unstyled: linked.length > 0 && rules === 0,
    overflow: Math.max(0, root.scrollWidth - root.clientWidth),
    missing: [...document.images].filter((each) => each.complete && each.naturalWidth === 0).map((each) => each.src).slice(0, 10),
    pale,
  };
}
