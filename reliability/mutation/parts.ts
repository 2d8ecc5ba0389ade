// What is mutated and by which tests it must be noticed: the parts in which a small mistake costs money or lets somebody
// in. The tests are those beside the code: they need no database, and a run of all of them takes a second or two.

export interface Part {
  readonly mutate: readonly string[]
  readonly tests: readonly string[]
}

const inProtocol = (names: readonly string[], ending = '.ts') =>
  names.map((name) => `packages/protocol/src/${name}${ending}`)
const inGateway = (names: readonly string[], ending = '.ts') =>
  names.map((name) => `packages/gateway/src/${name}${ending}`)
const inRules = (names: readonly string[], ending = '.ts') =>
  inGateway(
    names.map((name) => name.replace('/', '/rules/')),
    ending,
  )
const tests = '.test.ts'
const moves = ['orders/order', 'orders/status-change', 'payments/payment', 'refunds/refund']
const payoutRules = ['payout-amount', 'payout-plan', 'end-payout', 'decide-payouts'].map(
  (name) => `payouts/${name}`,
)

const matching = ['reconciliation/match', 'reconciliation/day', 'reconciliation/transfer-finding']
const limits = ['wallets/limits', 'wallets/pin-lock']
const schedules = ['retry-schedule', 'callback-attempt', 'host-health'].map((name) => `callbacks/${name}`)
const admission = [
  'platform/token-bucket',
  ...['slots', 'charges', 'rate-limiter', 'opening-queue', 'page-queue'].map(
    (name) => `http/admission/${name}`,
  ),
]

// The quickest tests first: the first that notices a change is the last that runs.
export const parts = {
  money: { mutate: inProtocol(['money']), tests: inProtocol(['money'], tests) },
  ledger: { mutate: inRules(['ledger/transfer']), tests: inRules(['ledger/transfer'], tests) },
  payouts: { mutate: inRules([...payoutRules, 'payouts/payout']), tests: inRules(payoutRules, tests) },
  'state-machine': {
    mutate: [...inProtocol(['statuses']), ...inRules([...moves, 'orders/expiry'])],
    tests: [...inProtocol(['statuses'], tests), ...inRules(moves, tests)],
  },
  fees: {
    mutate: inRules(['treasury/fee', 'treasury/price']),
    tests: inRules(['treasury/fee', 'treasury/price'], tests),
  },
  matching: {
    mutate: inRules(matching),
    tests: inRules(matching, tests),
  },
  limits: {
    mutate: [...inGateway(['platform/lockout']), ...inRules(limits)],
    tests: [...inGateway(['platform/lockout'], tests), ...inRules(limits, tests)],
  },
  schedules: {
    mutate: inRules(schedules),
    tests: inRules(schedules, tests),
  },
  admission: {
    mutate: inGateway(admission),
    tests: inGateway(admission, tests),
  },
  envelope: {
    mutate: inProtocol(['envelope']),
    tests: inProtocol(['envelope', 'documentation'], tests),
  },
  cryptography: {
    mutate: inProtocol(['base64', 'encryption', 'signing']),
    tests: inProtocol(['signing', 'encryption'], tests),
  },
  opening: {
    mutate: inProtocol(['opening', 'sealing']),
    tests: inProtocol(['vectors', 'opening'], tests),
  },
} as const satisfies Record<string, Part>

export type PartName = keyof typeof parts
