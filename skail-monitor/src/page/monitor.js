// What makes the page comfortable: it works without, too.
"use strict";

// Points in time in the reader's own, as precise as the server wrote them.
function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    if (!time.title) time.title = time.textContent;
    time.textContent = at.toLocaleString(document.documentElement.lang, {
      dateStyle: "medium",
      timeStyle: "medium",
    });
  }
}

// Makes `old` look like `fresh` and keeps what the reader did to it: what is open, chosen, typed, focused.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  const kept = ["open", "checked", "hidden"];
  for (const { name } of [...old.attributes]) {
    if (!kept.includes(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (!kept.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (old.matches("input, select, textarea")) return;
  if (old.hasAttribute("data-steady")) morphRows(old, fresh);
  else morphChildren(old, fresh);
}

// Not the property: in a form with a field of that name it is the field.
function idOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("id") : null;
}

function morphChildren(old, fresh) {
  const byId = new Map([...old.children].filter(idOf).map((it) => [idOf(it), it]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = idOf(wanted) && byId.get(idOf(wanted));
    if (known) {
      if (known !== at) old.insertBefore(known, at);
      else at = at.nextSibling;
      morph(known, wanted);
    } else if (at && !idOf(at) && !idOf(wanted) && at.nodeName === wanted.nodeName) {
      const next = at.nextSibling;
      morph(at, wanted);
      at = next;
    } else {
      old.insertBefore(wanted, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Rows change where they stand; none comes or goes under the reader's hand.
function morphRows(old, fresh) {
  const wanted = new Map([...fresh.children].map((row) => [row.id, row]));
  let moved = false;
  for (const row of old.children) {
    const now = wanted.get(row.id);
    wanted.delete(row.id);
    row.classList.toggle("gone", !now);
    if (now) morph(row, now);
    else moved = true;
  }
  const newer = document.getElementById("newer");
  if (newer) newer.hidden = !moved && wanted.size === 0;
}

// Asks for the page again and takes over what has changed.
async function refresh() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const text = await answer.text();
  const page = new DOMParser().parseFromString(text, "text/html");
  const main = page.querySelector("main");
  if (!main) return;
  localTimes(main);
  morph(document.querySelector("main"), main);
}

// Not while the reader marks a text or holds a button down.
let held = false;
let wanted = false;
let running = false;
async function changed() {
  wanted = true;
  if (running || held) return;
  running = true;
  try {
    while (wanted && !held && getSelection().isCollapsed) {
      wanted = false;
      await refresh();
    }
  } catch {
    wanted = true;
  } finally {
    running = false;
  }
}

function live(url) {
  const sign = document.getElementById("live");
  const say = (on) => {
    if (!sign) return;
    sign.dataset.state = on ? "on" : "off";
    sign.textContent = on ? sign.dataset.on : sign.dataset.off;
  };
  const stream = new EventSource(url);
  stream.addEventListener("open", () => say(true));
  stream.addEventListener("changed", changed);
  stream.addEventListener("error", () => {
    say(false);
    // The browser comes back by itself, except where it was refused: too many look at the same time.
    if (stream.readyState === EventSource.CLOSED) {
      setTimeout(() => {
        changed();
        live(url);
      }, 15000);
    }
  });
}

document.addEventListener("pointerdown", () => (held = true));
document.addEventListener("pointerup", () => {
  held = false;
  if (wanted) changed();
});
document.addEventListener("selectionchange", () => wanted && changed());
document.getElementById("all")?.addEventListener("change", (event) => {
  for (const box of document.querySelectorAll("#rows input[type=checkbox]")) {
    box.checked = event.target.checked;
  }
});

localTimes(document);
if (document.body.dataset.live) live(document.body.dataset.live);
