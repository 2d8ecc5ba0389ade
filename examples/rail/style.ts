// How the test bank's pages look.
import { baseStyle } from '../page.ts'

export const style = `${baseStyle}
:root { --accent: light-dark(#2457b5, #8fb6f7); --on-accent: light-dark(#ffffff, #0b1730); }
header > div, main { max-width: 640px; }
form h2, main > h2 { margin: 32px 0 12px; }
main .quiet { font-size: 0.875rem; }
.card h1 { margin-bottom: 4px; font-size: 1rem; letter-spacing: 0; }
.amount { margin: 0; font-size: 2.25rem; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -0.02em; line-height: 1.2; }
.amount small { font-size: 1rem; font-weight: 400; letter-spacing: 0; }
.order { margin: 4px 0 24px; overflow-wrap: anywhere; }
[aria-pressed=true] { border-color: var(--accent); color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.choices, .rows { margin: 0; padding: 0; list-style: none; overflow-wrap: anywhere; }
.choices li { display: grid; grid-template-columns: 264px 1fr; gap: 4px 16px; align-items: center; margin-bottom: 8px; }
.choices button { width: 100%; }
.rows li { margin-bottom: 12px; padding: 16px; border: 1px solid var(--line); border-radius: 16px; background: var(--surface); box-shadow: var(--shadow); }
.rows p { margin: 0; }
.rows form { margin-top: 12px; }
.badge { margin: 0 4px; text-transform: capitalize; vertical-align: bottom; }
.row { display: flex; flex-wrap: wrap; gap: 8px; }
@media (max-width: 559px) { .choices li { grid-template-columns: 1fr; margin-bottom: 16px; } }
`
