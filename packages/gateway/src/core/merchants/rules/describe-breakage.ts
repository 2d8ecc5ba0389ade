// Explains what revoking a key breaks and what to do instead, for errors, the console and the command line.
import type { Breakage, UsedKey } from './key-use.ts'

export function describeBreakage(key: UsedKey, breakage: readonly Breakage[], nowMs: number): string {
  return breakage.map((each) => describe(key, each, nowMs)).join(' ')
}

function describe({ kind }: UsedKey, breakage: Breakage, nowMs: number): string {
  switch (breakage.kind) {
    case 'only_key':
      return kind === 'aes'
        ? 'This is the only active AES key. Without it, the gateway rejects every request from the merchant (40100), and callbacks wait until a new key is added. Add a new key first.'
        : 'This is the only active RSA key. Without it, the gateway rejects every request from the merchant (40100). Add a new key first.'
    case 'callbacks':
      return `Callbacks are encrypted with this key. Without it, they are encrypted with key ${breakage.next.keyId}, and the merchant rejects them if that key is not installed. Send a request with that key, or choose it with "Use for callbacks", then revoke this one.`
    case 'requests':
      return `The last request with this key arrived ${inWords(nowMs - breakage.lastUsedAtMs)} ago. After the key is revoked, the gateway rejects such requests (40100). Switch all servers to the other key first.`
  }
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Clocks differ between machines, so a future time counts as now. */
function inWords(spanMs: number): string {
  for (const [unit, unitMs] of units) {
    const count = Math.floor(spanMs / unitMs)
    if (count > 0) return `${count} ${unit}${count === 1 ? '' : 's'}`
  }
  return 'less than a minute'
}
