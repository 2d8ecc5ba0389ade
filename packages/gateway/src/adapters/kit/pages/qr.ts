// An address as a QR code, dark on light in both color schemes, because cameras read that best: an SVG with one path,
// or a PNG for printing. QR codes are separate images, because one takes 3 ms (a PNG 7 ms), more than the rest of the
// page, and phones do not load it. Images are cached, because anyone can request one repeatedly.
import { crc32, deflateSync } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { encode } from 'uqr'
import { BoundedMap } from '../../../platform/runtime/bounded-map.ts'

const code = (text: string) => encode(text, { ecc: 'M', border: 2 })

/** Not cached, because pages show secrets of the second step this way. */
export function qrCode(text: string): string {
  const { data, size } = code(text)
  const path = data.map((row, y) => rowPath(row, y)).join('')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
}

/** Adjacent modules of a row are one stroke, which is a third as long as separate squares. */
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

/** Wide enough for a sharp print on a poster. */
const pngPixels = 1_024

/** A PNG (RFC 2083) in grayscale with one bit per pixel. */
export function qrPng(text: string): Buffer {
  const { data, size } = code(text)
  const scale = Math.ceil(pngPixels / size)
  const width = size * scale
  const rows = data.map((row) => {
    // Each line starts with the number of its filter: none.
    const line = Buffer.alloc(1 + Math.ceil(width / 8))
    for (let x = 0; x < width; x++) {
      const at = 1 + (x >> 3)
      if (!row[Math.floor(x / scale)]) line[at] = (line[at] ?? 0) | (0x80 >> (x & 7))
    }
    return Buffer.concat(Array<Buffer>(scale).fill(line))
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(width, 4)
  header.writeUInt8(1, 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

type Format = 'svg' | 'png'

/** 1 to 5 KB each, for the links and orders that are viewed now. */
const mostImages = 512

/** Images by their content. The least recently requested is dropped first. */
export function makeQrImages({
  most = mostImages,
  make = { svg: (text: string) => Buffer.from(qrCode(text)), png: qrPng },
}: {
  readonly most?: number
  readonly make?: Readonly<Record<Format, (text: string) => Buffer>>
} = {}): (text: string, format: Format) => Buffer {
  const made = new BoundedMap<string, Buffer>(most)
  return (text, format) => {
    const key = `${format} ${text}`
    const image = made.get(key) ?? make[format](text)
    made.set(key, image)
    return image
  }
}

const qrImage = makeQrImages()

export function sendQr(reply: FastifyReply, text: string, format: Format = 'svg'): FastifyReply {
  return reply
    .header('content-type', format === 'svg' ? 'image/svg+xml' : 'image/png')
    .header('content-security-policy', "default-src 'none'")
    .header('cache-control', 'private, max-age=3600')
    .header('x-content-type-options', 'nosniff')
    .send(qrImage(text, format))
}
