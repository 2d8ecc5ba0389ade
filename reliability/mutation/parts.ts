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
    names.map((name) => name.replace(/\/(?=[^/]+$)/, '/rules/')),
    ending,
  )
const tests = '.test.ts'
const moves = [
  'core/orders/order',
  'core/orders/status-change',
  'core/orders/payments/payment',
  'core/orders/refunds/refund',
]
const payoutRules = ['payout-amount', 'payout-plan', 'end-payout', 'decide-payouts'].map(
  (name) => `finance/payouts/${name}`,
)

const matching = [
  'finance/reconciliation/match',
  'finance/reconciliation/day',
  'finance/reconciliation/transfer-finding',
]
const limits = ['core/wallets/limits', 'core/wallets/pin-lock']
const schedules = ['retry-schedule', 'callback-attempt', 'host-health'].map(
  (name) => `core/callbacks/${name}`,
)
const admission = [
  'platform/runtime/token-bucket',
  ...['slots', 'charges', 'rate-limiter', 'opening-queue', 'page-queue'].map(
    (name) => `platform/http/admission/${name}`,
  ),
]

// The quickest tests first: the first that notices a change is the last that runs.
export const parts = {
  money: { mutate: inProtocol(['money']), tests: inProtocol(['money'], tests) },
  ledger: { mutate: inRules(['core/ledger/transfer']), tests: inRules(['core/ledger/transfer'], tests) },
  payouts: {
    mutate: inRules([...payoutRules, 'finance/payouts/payout']),
    tests: inRules(payoutRules, tests),
  },
  'state-machine': {
    mutate: [...inProtocol(['statuses']), ...inRules([...moves, 'core/orders/expiry'])],
    tests: [...inProtocol(['statuses'], tests), ...inRules(moves, tests)],
  },
  fees: {
    mutate: inRules(['core/orders/fees/fee', 'core/orders/fees/price']),
    tests: inRules(['core/orders/fees/fee', 'core/orders/fees/price'], tests),
  },
  matching: {
    mutate: inRules(matching),
    tests: inRules(matching, tests),
  },
  limits: {
    mutate: [...inGateway(['platform/runtime/lockout']), ...inRules(limits)],
    tests: [...inGateway(['platform/runtime/lockout'], tests), ...inRules(limits, tests)],
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
