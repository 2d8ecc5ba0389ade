import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from 'uqr'
import { qrCode } from './qr.ts'

test('the drawing has every dark module of the code and no other', () => {
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
