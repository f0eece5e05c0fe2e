// Keyboard shortcuts of the lists. Each key presses a button or follows a link of the page.
"use strict";
const wide = matchMedia("(min-width: 60rem)"); // then there is room for the evidence beside a message
function showEvidence() {
  document.querySelectorAll("details.why").forEach((each) => (each.open = wide.matches));
}
showEvidence();
wide.addEventListener("change", showEvidence);
const rows = [...document.querySelectorAll(".row")];
let current = rows.length === 1 ? 0 : -1; // the index of the selected row
function select(index) {
  if (!rows.length) return;
  rows[current]?.classList.remove("current");
  current = Math.max(0, Math.min(rows.length - 1, index));
  rows[current].classList.add("current");
  rows[current].scrollIntoView({ block: "nearest" });
  (rows[current].querySelector("a.subject") || rows[current]).focus({ preventScroll: true });
}
const boxes = [...document.querySelectorAll("input[name=ticked]")];
const allBox = document.querySelector("#everything input");
if (allBox) {
  allBox.parentElement.hidden = false; // the box needs this script
  allBox.addEventListener("change", () => boxes.forEach((box) => (box.checked = allBox.checked)));
}
// Teach the ticked messages, or the selected one if none is ticked.
function teach(label) {
  const isTicked = document.querySelector("input[name=ticked]:checked");
  const button = isTicked ? document.querySelector(`.all button.${label}`) : rows[current]?.querySelector(`button.${label}`);
  button?.click();
}
const keys = {
  j: () => select(current + 1),
  k: () => select(current - 1),
  x: () => rows[current]?.querySelector("input[name=ticked]")?.click(),
  a: () => allBox?.click(),
  s: () => teach("spam"),
  g: () => teach("good"),
  o: () => rows[current]?.querySelector("a.subject")?.click(),
  m: () => document.getElementById("move")?.click(),
  u: () => document.getElementById("undo")?.click(),
};
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
