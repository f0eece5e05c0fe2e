"""The style sheet of every page: light and dark, no font or picture from elsewhere."""

from __future__ import annotations

CSS = """
:root { color-scheme: light dark; --ground: #ffffff; --panel: #f6f7f9; --line: #dfe3e8; --ink: #1c232b;
  --soft: #5b6672; --ham: #2f6fb0; --spam: #cf6a1b; --area: #5a8f3c; --muted: #98a2ad; --on-strong: #ffffff;
  --warn: #fdf3e7; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --panel: #1c2229; --line: #323a44;
  --ink: #e6eaee;
  --soft: #9aa5b1; --ham: #6aa9e9; --spam: #f0964d; --area: #93c572; --muted: #6c7783; --on-strong: #10151a;
  --warn: #2b2219; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1140px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 18px; margin: 40px 0 10px; }
p { margin: 4px 0 10px; } .soft { color: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(138px, 1fr)); gap: 12px;
  margin: 22px 0 0; padding: 0; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; }
.card dt { color: var(--soft); font-size: 13px; } .card dd { margin: 0; }
.card .value { font-size: 26px; font-weight: 620; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.card .unit { font-size: 15px; font-weight: 400; color: var(--soft); }
.card .range { font-size: 13px; color: var(--soft); font-variant-numeric: tabular-nums; min-height: 19px; }
.card .means { font-size: 12.5px; color: var(--soft); line-height: 1.35; margin-top: 4px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr));
  gap: 8px 28px; }
figure { margin: 0; min-width: 0; } figure h2 { margin-top: 28px; }
figcaption { color: var(--soft); font-size: 13px; max-width: 62ch; }
figure.wide { overflow-x: auto; } figure.wide svg { max-width: 1060px; min-width: 720px; }
figure.compact svg { max-width: 480px; }
svg { display: batch; width: 100%; height: auto; font-family: inherit; }
svg .grid { stroke: var(--line); stroke-width: 1; fill: none; }
svg .axis { stroke: var(--muted); stroke-width: 1.2; fill: none; }
svg .tick { fill: var(--soft); font-size: 12px; } svg .label { fill: var(--soft); font-size: 13px; }
svg .note { fill: var(--ink); font-size: 12.5px; paint-order: stroke; stroke: var(--ground);
  stroke-width: 4px; }
svg .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke: var(--ham); }
svg .s0, svg .line-ham { stroke: var(--ham); } svg .s1, svg .line-spam { stroke: var(--spam); }
svg .s2, svg .line-area { stroke: var(--area); }
svg .faint { stroke: var(--muted); stroke-width: 1.1; opacity: 0.55; }
  svg .faint:hover { stroke-width: 3; opacity: 1; }
svg .point { fill: var(--ham); stroke: var(--ground); stroke-width: 1.5; }
svg .verdict { fill: var(--spam); stroke: var(--ground); stroke-width: 2; }
svg .bar { stroke: none; } svg .ham { fill: var(--ham); } svg .spam { fill: var(--spam); }
svg .area { fill: var(--area); } svg .muted { fill: var(--muted); } svg .cell { fill: var(--panel); }
svg .name-ham { fill: var(--ham); } svg .name-spam { fill: var(--spam); }
  svg .name-area { fill: var(--area); }
svg .diagonal { stroke: var(--muted); stroke-width: 1.4; stroke-dasharray: 5 5; }
svg .whisker { stroke: var(--ham); stroke-width: 1.4; opacity: 0.6; }
svg .count { fill: var(--ink); font-size: 11px; } svg .big { font-size: 17px; font-weight: 600; }
svg .strong { fill: var(--on-strong); }
.scroll { overflow-x: auto; } .tables { display: flex; flex-wrap: wrap; gap: 0 44px; }
.tables p { max-width: 34ch; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: right; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 500; } th:first-child, td:first-child { text-align: left; }
.errors { list-style: none; padding: 0; margin: 0; }
.errors li { border-top: 1px solid var(--line); padding: 10px 0; }
.errors summary { cursor: pointer; overflow-wrap: anywhere; } .errors summary b { font-weight: 600; }
.where { color: var(--soft); font-size: 13px; overflow-wrap: anywhere;
  font-family: ui-monospace, monospace; }
.tag { display: inline-batch; border-radius: 5px; padding: 0 7px; font-size: 12.5px;
  background: var(--panel);
  border: 1px solid var(--line); color: var(--soft); margin-right: 6px; white-space: nowrap; }
.evidence { display: grid; grid-template-columns: minmax(0, 46ch) 180px max-content;
  gap: 3px 12px; align-items: center;
  margin: 8px 0 4px 18px; font-size: 13px; }
.evidence code { overflow-wrap: anywhere; font-family: ui-monospace, monospace; unicode-bidi: isolate; }
.evidence svg { height: 12px; } .subject { unicode-bidi: isolate; }
.empty { background: var(--warn); border-radius: 8px; padding: 10px 14px; }
footer { margin-top: 48px; color: var(--soft); font-size: 13px; }
@media print { main { max-width: none; } figure { break-inside: avoid; } }
"""
