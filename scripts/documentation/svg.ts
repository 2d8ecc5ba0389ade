// A small writer of drawings: boxes, lines and words, in the colours of the pages, light and dark by the reader's own
// setting. What is drawn comes from tables of the code, so a drawing cannot say something else than the program does.

const style = `
text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1c211f }
.quiet { fill: #5b6460; font-size: 12px }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px }
.strong { font-weight: 600 }
.middle { text-anchor: middle }
.box { fill: #ffffff; stroke: #7f8985 }
.good { stroke: #1f6f3c; stroke-width: 2 }
.bad { stroke: #a82a2a; stroke-width: 2 }
.wait { stroke: #85590b; stroke-width: 2 }
.line { stroke: #7f8985; fill: none }
.life { stroke: #dcdfdc; stroke-dasharray: 4 4 }
.head { fill: #7f8985 }
@media (prefers-color-scheme: dark) {
  text { fill: #e9ecea }
  .quiet { fill: #a3aca8 }
  .box { fill: #1b1e1d; stroke: #7b8580 }
  .good { stroke: #7fd39b }
  .bad { stroke: #f09a93 }
  .wait { stroke: #e0b457 }
  .line { stroke: #7b8580 }
  .life { stroke: #323735 }
  .head { fill: #7b8580 }
}`

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly title: string
  readonly parts: readonly string[]
}

export function drawing({ width, height, title, parts }: Drawing): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<style>${style}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>
${parts.join('\n')}
</svg>
`
}

export interface At {
  readonly x: number
  readonly y: number
}

export function text(at: At, words: string, classes = ''): string {
  return `<text x="${at.x}" y="${at.y}"${classes && ` class="${classes}"`}>${escaped(words)}</text>`
}

export function box(at: At & { readonly width: number; readonly height: number }, classes = ''): string {
  return `<rect x="${at.x}" y="${at.y}" width="${at.width}" height="${at.height}" rx="8" class="box${classes && ` ${classes}`}"/>`
}

/** Through these points, with a head at the end. */
export function arrow(...points: readonly At[]): string {
  const path = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')
  return `<path d="${path}" class="line" marker-end="url(#head)"/>`
}

export function line(from: At, to: At, classes: string): string {
  return `<path d="M${from.x} ${from.y}L${to.x} ${to.y}" class="${classes}"/>`
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
