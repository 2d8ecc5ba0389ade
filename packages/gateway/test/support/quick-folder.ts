// Where databases of tests lie: in memory where there is room, because each is a thousand files that are made and deleted
// again. Starting and stopping 12 gateways took 10 s of processor time so, and 18 s on an ext4 without a journal.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'
/** A run of all tests needs less than a quarter of it. */
const roomBytes = 8 * 2 ** 30

export function quickFolder(): string {
  return hasRoom() ? inMemory : tmpdir()
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return Math.min(bavail * bsize, process.availableMemory()) >= roomBytes
  } catch {
    return false
  }
}
