// The address of a checkout as a QR code, drawn as one path of an SVG: dark on light in either colour scheme, because
// cameras read it best that way.
import { encode } from 'uqr'
import { type Html, html } from '../html.ts'

export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 2 })
  const path = data.map((row, y) => rowPath(row, y)).join('')
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
}

/** Neighbours in a row are one stroke: a third of the length of a square each. */
function rowPath(row: readonly boolean[], y: number): string {
  let path = ''
  for (let x = 0; x < row.length; x++) {
    if (!row[x]) continue
    const start = x
    while (row[x + 1]) x++
    path += `M${start} ${y}h${x - start + 1}v1h-${x - start + 1}z`
  }
  return path
}
