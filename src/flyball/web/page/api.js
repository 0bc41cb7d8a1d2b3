// The one way to the server; in an exported file, to the data inside it.

const inside = document.getElementById("exported");
export const EXPORTED = inside ? JSON.parse(inside.textContent) : null;

export class Refused extends Error {
  constructor(status, told) {
    super(told.message);
    this.status = status;
    this.code = told.code;
    this.hint = told.hint || "";
  }
}

async function ask(method, path, body, keepalive = false) {
  let answer;
  try {
    answer = await fetch(`/api/${path}`, {
      method,
      keepalive,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused(0, { code: "gone", message: "The server does not answer.", hint: "The page retries automatically." });
  }
  const told = await answer.json().catch(() => ({ code: "internal", message: `The server answered ${answer.status}.` }));
  if (!answer.ok && !(answer.status === 422 && "ok" in told)) throw new Refused(answer.status, told);
  return told;
}

function kept(path) {
  const card = path.match(/cards\/([^/]+)\/diff/);
  if (card) return EXPORTED.cards[decodeURIComponent(card[1])] || EXPORTED.diff;
  if (path.endsWith("replay")) return EXPORTED.replay;
  return path.endsWith("diff") ? EXPORTED.diff : EXPORTED.run;
}

export const get = (path) => (EXPORTED ? Promise.resolve(kept(path.split("?")[0])) : ask("GET", path));
export const post = (path, body, keepalive) => ask("POST", path, body || {}, keepalive);
export const part = encodeURIComponent;

// A stream that comes back by itself and goes on where it broke off.
export function follow(path, onLine, onState) {
  let source;
  let last = "";
  let timer = 0;
  let closed = false;
  function open() {
    if (closed) return;
    source = new EventSource(`/api/${path}${last ? `?after=${part(last)}` : ""}`);
    source.onopen = () => onState?.(true);
    source.onmessage = (event) => {
      last = event.lastEventId || last;
      onLine(JSON.parse(event.data));
    };
    source.onerror = () => {
      onState?.(false);
      if (source.readyState !== EventSource.CLOSED) return;
      clearTimeout(timer);
      timer = setTimeout(open, 1500);
    };
  }
  open();
  return () => { closed = true; clearTimeout(timer); source.close(); };
}

export function storedFlag(name, usual) {
  const found = localStorage.getItem(name);
  return found === null ? usual : found === "yes";
}
export const keepFlag = (name, value) => localStorage.setItem(name, value ? "yes" : "no");
