// The address of a checkout as a QR code: an SVG of one path, dark on light in either colour scheme, because cameras
// read it best that way. An image of its own, not part of the page: it costs 3 ms, more than all the rest of the page,
// and a phone never asks for it.
import { encode } from 'uqr'

export function qrCode(text: string): string {
  const { data, size } = encode(text, { ecc: 'M', border: 2 })
  const path = data.map((row, y) => rowPath(row, y)).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
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
