// Draws random bytes in larger pieces: in Node 24 a small call costs 9 µs, and a create makes three. Bytes are used
// once and wiped. Remove when randomBytes(16) costs as little (random.test.ts).
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
    // A loop, because copying and filling so few bytes costs 5 µs more.
    for (let index = 0; index < bytes; index++, used++) {
      given[index] = piece[used] as number
      piece[used] = 0
    }
    return given
  }
}
