// The table of a run as a picture: a bar for each ratio, and a mark where its goal is. Reads in light and in dark.
import type { Row } from './scenario.ts'

const width = 880
const rowHeight = 34
const labelWidth = 380
const barWidth = 300
const headHeight = 56

export function drawTable(rows: readonly Row[], machine: string): string {
  const shown = rows.filter(({ ratio }) => ratio !== undefined)
  const height = headHeight + shown.length * rowHeight + 20
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Ratios of the benchmark and their goals">
<style>
text { font: 13px system-ui, sans-serif; fill: #1c2733 } .part { font-size: 11px } .quiet { fill: #5b6876 } .bar { fill: #2f6f4f } .missed { fill: #a8492b } .goal { stroke: #1c2733; stroke-width: 2 } .line { stroke: #d9dfe5 }
@media (prefers-color-scheme: dark) { text { fill: #e6ebf0 } .quiet { fill: #9aa7b4 } .bar { fill: #5fb98a } .missed { fill: #e08a66 } .goal { stroke: #e6ebf0 } .line { stroke: #33404d } }
</style>
<text x="0" y="18">Ours beside the yardstick; the mark is the goal</text>
<text x="0" y="38" class="quiet">${escapeText(machine)}</text>
${shown.map((row, index) => drawRow(row, headHeight + index * rowHeight)).join('\n')}
</svg>
`
}

function drawRow({ name, ratio = 0, goal, isGoalMet }: Row, top: number): string {
  const full = Math.max(goal ? goal.ratio * 1.5 : 1, ratio, 0.01)
  const scale = (value: number) => labelWidth + (value / full) * barWidth
  const middle = top + rowHeight / 2 + 4
  const words = goal ? `${ratio.toFixed(2)}  (${goal.bound} ${goal.ratio})` : ratio.toFixed(2)
  return [
    `<line class="line" x1="0" x2="${width}" y1="${top}" y2="${top}"/>`,
    drawName(name, middle),
    `<rect class="${isGoalMet === false ? 'missed' : 'bar'}" x="${labelWidth}" y="${top + 11}" width="${(scale(ratio) - labelWidth).toFixed(1)}" height="12"/>`,
    goal
      ? `<line class="goal" x1="${scale(goal.ratio).toFixed(1)}" x2="${scale(goal.ratio).toFixed(1)}" y1="${top + 7}" y2="${top + 27}"/>`
      : '',
    `<text x="${width - 8}" y="${middle}" text-anchor="end">${isGoalMet === false ? '✘ ' : ''}${words}</text>`,
  ].join('')
}

/** What it is a part of stands in a line of its own. */
function drawName(name: string, middle: number): string {
  const [scenario = name, part] = name.split(': ', 2)
  if (part === undefined) return `<text x="0" y="${middle}">${escapeText(name)}</text>`
  return `<text x="0" y="${middle - 7}">${escapeText(scenario)}</text><text x="0" y="${middle + 8}" class="quiet part">${escapeText(part)}</text>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
