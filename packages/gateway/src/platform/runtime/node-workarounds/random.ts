// Random bytes, drawn from the system in larger pieces: with Node 24 a few bytes at a time cost 9 µs a call, which a
// create pays three times. Bytes are given out once and wiped from the piece. It may go when randomBytes(16) costs what
// makeRandom()(16) does (random.test.ts).
import { randomFillSync } from 'node:crypto'

const pieceBytes = 4096

export function makeRandom(): (bytes: number) => Uint8Array {
  const piece = Buffer.alloc(pieceBytes)
  let used = pieceBytes
  return (bytes) => {
    if (bytes > pieceBytes) return randomFillSync(Buffer.alloc(bytes))
    if (used + bytes > pieceBytes) {
      randomFillSync(piece)
      used = 0
    }
    const given = new Uint8Array(bytes)
    // By hand: for so few of them, copying and filling cost 5 µs more.
    for (let index = 0; index < bytes; index++, used++) {
      given[index] = piece[used] as number
      piece[used] = 0
    }
    return given
  }
}
