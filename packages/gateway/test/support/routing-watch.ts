// Watches every statement that the program sends while tests run, and fails the test that sent one which would be wrong
// on spread tables. What tests themselves ask is their own affair.
import { statementChannel } from '../../src/platform/database/pool.ts'
import { routingFaults } from './routing.ts'

/**
 * What reaches the rows of all merchants on purpose, by file and function, and why. It still must not join spread with
 * local tables, nor lock rows of several merchants.
 */
const ofAllMerchants: Readonly<Record<string, readonly [functions: readonly string[], why: string]>> = {
  'core/callbacks/store/callback-history.ts': [
    ['countCallbacks', 'endOfLook', 'findCallback', 'listCallbacks', 'prune'],
    'the console lists and counts over all merchants, and pruning looks for what is old wherever it is',
  ],
  'platform/database/backup/backup.ts': [[''], 'a backup is of everything'],
  'platform/database/backup/restore.ts': [[''], 'a restore looks whether the database is empty'],
  'platform/database/migrate.ts': [['applyNext'], 'a migration changes all rows of a table'],
  'platform/database/partitions.ts': [[''], 'a partition has the rows of all merchants in its time'],
  'platform/database/mode.ts': [['checkContent'], 'at the start: whether there is any order at all'],
  'core/keys/store/sealed-secrets.ts': [[''], 'a new master key seals the secrets of all, a page at a time'],
  'core/ledger/store/ledger-checks.ts': [[''], 'the proof is of all books at once'],
  'core/ledger/store/movements.ts': [[''], 'what moved on a wallet or at a bank concerns any merchant'],
  'core/ledger/store/trial-balance.ts': [[''], 'the trial balance is of all books at once'],
  'finance/links/store/links.ts': [
    ['findLink', 'listLinks'],
    'the address of a payment link names the link alone, and the console lists those of all',
  ],
  'core/merchants/store/merchants.ts': [
    ['deleteUnusedHosts', 'listMerchants'],
    'the console lists merchants, and pruning looks for hosts that nobody uses',
  ],
  'core/orders/store/erasure.ts': [[''], 'what is old enough to be erased is found by its time'],
  'core/orders/store/order-list.ts': [
    ['endOfLook', 'findByNumber', 'findMerchantsByName', 'listOrders'],
    'the console lists and searches over all merchants',
  ],
  'core/orders/store/orders.ts': [
    ['findOverdueOrders', 'nextExpiry'],
    'what is overdue is found by its time',
  ],
  'finance/overview/store/figures.ts': [[''], 'the overview counts over all merchants'],
  'finance/overview/store/search.ts': [[''], 'the console searches over all merchants'],
  'finance/overview/store/overview-hours.ts': [[''], 'the overview counts over all merchants'],
  'finance/payouts/store/payout-batches.ts': [
    [''],
    'a run has payouts of many merchants, found by its number',
  ],
  'finance/payouts/store/payout-runs.ts': [
    ['fileTotalsOf', 'holdsReviewed', 'sendRun', 'totalsOf'],
    'a run has payouts of many merchants, found by its number',
  ],
  'finance/payouts/store/payouts.ts': [['findPayouts'], 'the console lists the payouts of a run, or of all'],
  'finance/rails/disputes/store/disputes.ts': [
    ['listDisputes', 'forgetEvidence'],
    'the console lists disputes of all, and old evidence is found by its time',
  ],
  'finance/rails/store/rail-attempts.ts': [['findTask'], 'a rail that calls names its transaction alone'],
  'finance/rails/store/transfer-entries.ts': [
    ['findAttempts'],
    'a bank names the reference of a transfer alone',
  ],
  'finance/reconciliation/store/breaks.ts': [['findCorrection'], 'a correction is found by its act'],
  'finance/reconciliation/store/days.ts': [['bookAt'], 'what is at a bank or a rail is of any merchant'],
  'finance/reconciliation/store/expected.ts': [
    [''],
    'a statement’s line names what it is about, and no merchant',
  ],
  'finance/reconciliation/store/matching.ts': [
    ['listOverdue'],
    'what is at a bank or a rail is of any merchant',
  ],
  'finance/overview/store/system-state.ts': [
    ['readSystemState'],
    'the system page counts over all merchants',
  ],
  'finance/treasury/store/corrections.ts': [['listCorrections'], 'the console lists corrections of all'],
  'finance/treasury/store/held-money.ts': [
    ['listHeldMoney'],
    'the console lists what suspense holds for orders of all merchants',
  ],
  'finance/treasury/store/refunds-to-send.ts': [
    ['listRefundsToSend'],
    'the console lists the refunds that operators send for all merchants',
  ],
  'identity/consumers/store/closing.ts': [['eraseOrders'], 'a consumer’s payments are at any merchant'],
  'identity/consumers/store/consumer-data.ts': [[''], 'a consumer’s payments are at any merchant'],
  'core/wallets/store/history.ts': [['list'], 'a consumer’s payments are at any merchant'],
}

const seen = new Set<string>()

statementChannel.subscribe((message) => {
  const { text } = message as { readonly text: string }
  if (seen.has(text)) return
  seen.add(text)
  const caller = callerOf()
  if (!caller) return
  const [functions] = ofAllMerchants[caller.file] ?? [[]]
  const isOfAll = functions.some((name) => name === '' || caller.names.includes(name))
  const faults = routingFaults(text).filter((fault) => !isOfAll || !fault.includes('is reached without'))
  // Thrown here, it fails the test that is running.
  if (faults.length > 0)
    throw new Error(`${caller.file} ${caller.names.join(' < ')}: ${faults.join('; ')}\n${text}`)
})

interface Caller {
  readonly file: string
  /** Of the functions of that file, the one that sends the statement first. */
  readonly names: readonly string[]
}

const between =
  /^(src\/platform\/database\/(pool|measured-pool)|src\/app\/traced|src\/platform\/observability\/tracing\/tracer|test\/support\/(routing-watch|faulty-pool))\.ts$/
const frame = /at (?:async )?(?:(\S+) .*?)?\(?(?:file:\/\/)?[^()]*\/gateway\/((?:src|test)\/\S+?):\d+:\d+\)?$/

/** Undefined where a test asks. */
function callerOf(): Caller | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 30
  const lines = (new Error().stack ?? '').split('\n')
  Error.stackTraceLimit = stackTraceLimit
  const frames = lines.flatMap((line) => {
    const [, name = '', file] = frame.exec(line) ?? []
    return file === undefined || between.test(file) ? [] : { name, file }
  })
  const [first] = frames
  if (!first?.file.startsWith('src/')) return undefined
  const names = frames.filter(({ file }) => file === first.file).map(({ name }) => name)
  return { file: first.file.slice('src/'.length), names }
}
