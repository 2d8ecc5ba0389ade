import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { encode } from 'uqr'
import { makeQrImages, qrCode, qrPng } from './qr.ts'

test('the drawing contains exactly the dark modules of the code', () => {
  const text =
    'https://pay.example.com/checkout/100000000000000001/P01KB0000000000000000000000/abcdefghijklmnopqrstuvwxyz0'
  const { data, size } = encode(text, { ecc: 'M', border: 2 })
  const drawn = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  const [, path = ''] = /<path d="([^"]+)"/.exec(qrCode(text)) ?? []
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let at = Number(x); at < Number(x) + Number(width); at++) (drawn[Number(y)] ?? [])[at] = true
  }
  assert.deepEqual(drawn, data)
})

test('the PNG contains the same modules, large enough to print', () => {
  const { data, size } = encode('https://pay.example/l/L01', { ecc: 'M', border: 2 })
  const png = qrPng('https://pay.example/l/L01')
  const width = png.readUInt32BE(16)
  const scale = width / size
  assert(Number.isInteger(scale) && width >= 1_024)
  const start = png.indexOf('IDAT') + 4
  const pixels = inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8)))
  const lineBytes = 1 + Math.ceil(width / 8)
  const isDark = (x: number, y: number) =>
    ((pixels[y * lineBytes + 1 + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) === 0
  const middle = (at: number) => at * scale + Math.floor(scale / 2)
  const drawn = data.map((row, y) => row.map((_, x) => isDark(middle(x), middle(y))))
  assert.deepEqual(drawn, data)
})

test('an image is cached per text and format, and the most recently used ones are kept', () => {
  const made: string[] = []
  const image = makeQrImages({
    most: 3,
    make: {
      svg: (text) => Buffer.from(`svg of ${made.push(text) && text}`),
      png: (text) => Buffer.from(`png of ${made.push(text) && text}`),
    },
  })
  for (let times = 0; times < 2; times++) {
    assert.equal(image('a', 'svg').toString(), 'svg of a')
    assert.equal(image('a', 'png').toString(), 'png of a')
    assert.equal(image('b', 'svg').toString(), 'svg of b')
  }
  assert.deepEqual(made, ['a', 'a', 'b'])
  image('a', 'svg')
  image('c', 'svg')
  image('a', 'svg')
  assert.deepEqual(made, ['a', 'a', 'b', 'c'])
  image('a', 'png')
  assert.deepEqual(made, ['a', 'a', 'b', 'c', 'a'], 'the oldest was dropped')
})
