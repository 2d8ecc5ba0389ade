// What is mutated and by which tests it must be noticed: the parts in which a small mistake costs money or lets somebody
// in. The tests are those beside the code: they need no database, and a run of all of them takes a second or two.

export interface Part {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
}

const protocol = 'packages/protocol/src'
const domain = 'packages/gateway/src/domain'

export const parts = {
  money: {
    mutate: [`${protocol}/money.ts`],
    tests: [`${protocol}/money.test.ts`],
  },
  ledger: {
    mutate: [`${domain}/ledger.ts`],
    tests: [`${domain}/ledger.test.ts`],
  },
  'state-machine': {
    mutate: [
      `${protocol}/statuses.ts`,
      ...['order', 'payment', 'refund', 'callback'].map((name) => `${domain}/${name}.ts`),
    ],
    tests: [
      `${protocol}/statuses.test.ts`,
      ...['order', 'payment', 'refund', 'callback'].map((name) => `${domain}/${name}.test.ts`),
    ],
  },
  envelope: {
    mutate: ['base64', 'encryption', 'envelope', 'opening', 'sealing', 'signing'].map(
      (name) => `${protocol}/${name}.ts`,
    ),
    tests: ['encryption', 'envelope', 'opening', 'signing', 'vectors'].map(
      (name) => `${protocol}/${name}.test.ts`,
    ),
  },
} as const satisfies Record<string, Part>

export type PartName = keyof typeof parts
