// The clauses of the interface, and the type of a check.
import type { World } from './world.ts'

/** By the numbers of the specification. */
export const clauses = {
  '2.1': 'Request envelope',
  '2.2': 'Response envelope',
  '2.3': 'Create body',
  '2.4': 'Order object',
  '2.5': 'Goods object',
  '2.6': 'Shipping object',
  '2.7': 'Create response',
  '2.8': 'Query body',
  '2.9': 'Query response',
  '2.10': 'Callback envelope',
  '2.11': 'Order callback',
  '2.12': 'Refund callback',
  '3.1': 'Payment order statuses',
  '3.2': 'Refund statuses',
  '3.3': 'Transitions',
  '4.1': 'Operation names',
  '4.2': 'Create payment',
  '4.3': 'Query payment',
  '4.4': 'Merchant callback endpoint',
  '5.1': 'Signature fields',
  '5.2': 'Encryption',
  '5.3': 'Order of signing and encrypting',
  '5.4': 'Signed and encrypted callbacks',
  '5.5': 'Unsigned responses',
  '6': 'Events',
  '7.1': 'Success',
  '7.2': 'Failure codes',
  '7.3': 'Failed deliveries',
  '7.4': 'Failed payments and refunds',
  '8': 'Limits',
  '9': 'Versioning',
} as const

export type Clause = keyof typeof clauses

/** In the order of the specification; an object's own order puts whole numbers first. */
export const clauseNumbers = (Object.keys(clauses) as Clause[]).toSorted((a, b) =>
  a.localeCompare(b, 'en', { numeric: true }),
)

export interface Check {
  readonly clause: Clause
  readonly title: string
  /** Throws a Deviation, or NotTestable. */
  run(world: World): Promise<void>
}
