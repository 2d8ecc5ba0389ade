// The id of a destination in the queue: its endpoint's id, or a UUID derived from its address, which may be too long
// for an index.
import { hash } from 'node:crypto'
import { remember } from '../../../platform/runtime/remember.ts'
import { addressOf } from '../rules/destination.ts'

export interface Addressed {
  readonly callbackUrl: string
  /** Empty or undefined: the order's own callbackUrl. */
  readonly endpointId: string | undefined
}

export function destinationIdOf({ callbackUrl, endpointId }: Addressed): string {
  return endpointId ? endpointId : idOfAddress(addressOf(callbackUrl))
}

/** A version 8 UUID with 118 bits of the address's SHA-256. */
const idOfAddress = remember(
  (address: string) => {
    const digest = hash('sha256', address)
    const part = (from: number, to: number) => digest.slice(from, to)
    return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`
  },
  { keyOf: (address) => address, most: 1_000 },
)
