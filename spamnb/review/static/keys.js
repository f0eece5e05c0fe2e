// Keys for the lists: every one of them presses a button or follows a link that is on the page.
"use strict";
const wide = matchMedia("(min-width: 60rem)").matches; // reasons stand beside a message there, and below it are folded away
if (wide) document.querySelectorAll("details.why").forEach((each) => (each.open = true));
const rows = [...document.querySelectorAll(".row")];
let at = rows.length === 1 ? 0 : -1;
function go(to) {
  if (!rows.length) return;
  rows[at]?.classList.remove("at");
  at = Math.max(0, Math.min(rows.length - 1, to));
  rows[at].classList.add("at");
  rows[at].scrollIntoView({ block: "nearest" });
  (rows[at].querySelector("a.subject") || rows[at]).focus({ preventScroll: true });
}
const boxes = [...document.querySelectorAll("input[name=entry]")];
const everything = document.querySelector("#everything input");
if (everything) {
  everything.parentElement.hidden = false;
  everything.addEventListener("change", () => boxes.forEach((box) => (box.checked = everything.checked)));
}
function teach(as) {
  const ticked = document.querySelector("input[name=entry]:checked");
  const button = ticked ? document.querySelector(`.all button.${as}`) : rows[at]?.querySelector(`button.${as}`);
  button?.click();
}
const keys = {
  j: () => go(at + 1),
  k: () => go(at - 1),
  x: () => rows[at]?.querySelector("input[name=entry]")?.click(),
  a: () => everything?.click(),
  s: () => teach("spam"),
  g: () => teach("good"),
  o: () => rows[at]?.querySelector("a.subject")?.click(),
  m: () => document.getElementById("move")?.click(),
  u: () => document.getElementById("undo")?.click(),
};
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
