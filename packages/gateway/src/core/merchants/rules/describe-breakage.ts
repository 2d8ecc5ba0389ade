// Explains what revoking a key breaks and what to do instead, for errors, the console and the command line.
import type { Breakage, UsedKey } from './key-use.ts'

export function describeBreakage(key: UsedKey, breakage: readonly Breakage[], nowMs: number): string {
  return breakage.map((each) => describe(key, each, nowMs)).join(' ')
}

function describe({ kind }: UsedKey, breakage: Breakage, nowMs: number): string {
  switch (breakage.kind) {
    case 'only_key':
      return kind === 'aes'
        ? 'This is the only live AES key: without it the gateway rejects every request of the merchant (40100), and callbacks wait until there is a new key. Add a new key first.'
        : 'This is the only live RSA key: without it the gateway rejects every request of the merchant (40100). Add a new key first.'
    case 'callbacks':
      return `This key seals callbacks. Without it callbacks are sealed with key ${breakage.next.keyId}, and a merchant that has not installed that key rejects them. Send a request with that key, or choose it with "Use for callbacks", then revoke this one.`
    case 'requests':
      return `The last request under this key arrived ${inWords(nowMs - breakage.lastUsedAtMs)} ago: the gateway rejects such requests (40100) once the key is revoked. Switch all servers to the other key first.`
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
