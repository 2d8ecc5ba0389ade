// An operator under load, over the admin API: pays the merchant out, sends runs to the bank, says what the bank did, corrects,
// and moves the operator's own money. Whatever got no answer is sent again under the same key, and what was acknowledged is written down.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { firstOperatorLogin } from '../../packages/gateway/src/identity/operators/rules/operator.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { ApiClient, type ApiRequest } from '../../packages/gateway/test/support/admin-api.ts'
import type { Answered } from '../../packages/gateway/test/support/gateway.ts'
import { commandScript } from '../../packages/gateway/test/support/process.ts'
import { Owner } from './owner.ts'

interface Run {
  readonly runId: string
  readonly closedAtMs?: number
  readonly sentAtMs?: number
  readonly ending?: string
}

interface Paid {
  readonly payoutId: string
  readonly status: string
}

const currency = 'EUR'
const reason = 'kill cycles'
const payoutMinor = 100n
const correctionMinor = 25n
const booking = { reference: 'B', valueDate: '2026-11-16' }
const iban = 'DE89370400440532013000'
const scopes =
  'money:move,payouts:read,banks:manage,merchants:manage,ledger:read,fees:manage,reconciliation:read,reconciliation:act'
const askAgainMs = 150
const answeredWithinMs = 180_000
/** The merchant keeps enough for its refunds. */
const reserve = '60.00'

export class Treasurer {
  /** By the number under which it was asked for. */
  readonly #payouts = new Map<string, string>()
  /** What it was told last of each. */
  readonly #statuses = new Map<string, string>()
  /** Of which the bank said all that it will. */
  readonly #dealtWith = new Set<string>()
  /** The file of a run, as it was first read. */
  readonly #files = new Map<string, string>()
  readonly #merchantId: string
  readonly #api: ApiClient
  readonly #owner = new Owner((id, request) => this.#ask(id, request))
  #corrections = 0
  #isOver = false
  #work: Promise<void> = Promise.resolve()

  private constructor(merchantId: string, api: ApiClient) {
    this.#merchantId = merchantId
    this.#api = api
  }

  /** Of a gateway that is ready; it must take new bank accounts without a waiting time. */
  static async open(given: {
    environment: Readonly<Record<string, string>>
    adminUrl: string
    merchantId: string
  }): Promise<Treasurer> {
    const { environment, adminUrl, merchantId } = given
    const args = ['token', 'add', 'treasurer', '--operator', firstOperatorLogin, '--scopes', scopes, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, [commandScript, ...args], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'], ...environment },
    })
    // Safe: it is what the command prints.
    const { token } = JSON.parse(stdout) as { token: string }
    const made = new Treasurer(merchantId, new ApiClient({ adminUrl }, token))
    const [params, holder] = [{ merchantId }, 'Shop']
    await made.#must('bank.change', { params: { bankName: 'main' }, body: { holder, iban, reason } })
    await made.#must('merchant.bank-account', { params, body: { currency, holder, iban, reason } })
    const plan = { currency, schedule: 'hand', least: '1.00', reserve, reason }
    await made.#must('payout-plan.set', { params, body: plan })
    await made.#owner.open()
    return made
  }

  /** From now on until `end`. Rejects when it gives up, and never resolves. */
  startWork(): Promise<never> {
    this.#work = this.#goOn()
    return this.#work.then(() => new Promise<never>(() => {}))
  }

  /** When what is under way is done. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  get figures() {
    return {
      payouts: this.#statuses.size,
      payoutRuns: this.#files.size,
      corrections: this.#corrections,
      ...this.#owner.figures,
    }
  }

  /** All that is not as it was told. */
  async check(pool: Pool): Promise<string[]> {
    const { rows } = await pool.query<{ payout_id: string; status: string; is_by_hand: boolean }>(
      'select payout_id, status, plan_day is null as is_by_hand from payouts where plan_day is not null or amount_minor = $1',
      [payoutMinor.toString()],
    )
    const stored = new Map(rows.map((row) => [row.payout_id, row.status]))
    const { rows: corrections } = await pool.query<{ amount: string; count: string }>(
      `select coalesce(sum(amount_minor), 0) as amount, count(*) from transfers where kind = 'correction'`,
    )
    const byHand = rows.filter((row) => row.is_by_hand).length
    const corrected = `${corrections[0]?.count} corrections of ${corrections[0]?.amount}`
    const toldOf = `${this.#corrections} corrections of ${BigInt(this.#corrections) * correctionMinor}`
    return [
      ...[...this.#statuses]
        .filter(([payoutId, told]) => !mayBe(told, stored.get(payoutId)))
        .map(([payoutId, status]) => `payout ${payoutId} was ${status} and is ${stored.get(payoutId)}`),
      ...(byHand === this.#payouts.size
        ? []
        : [`${this.#payouts.size} payouts were asked for, ${byHand} are there`]),
      ...(corrected === toldOf ? [] : [`${toldOf} were asked for, ${corrected} are there`]),
      ...(await this.#changedFiles()),
      ...(await this.#owner.check(pool)),
    ]
  }

  async #goOn(): Promise<void> {
    for (let round = 0; !this.#isOver; round++) {
      await this.#payOut(`payout-${round}`)
      await this.#correct('correction.fund', `fund-${round}`, {})
      if (round % 5 === 1) await this.#ask('payout-run.start', { body: { currency, reason } })
      await this.#dealWithRuns()
      await this.#owner.turn(round)
      await pause(askAgainMs)
    }
  }

  /** Refused where the merchant has too little. */
  async #payOut(key: string): Promise<void> {
    const { code, data } = await this.#act('merchant.payout', key, { amount: '1.00' })
    if (code !== 20000) return
    // Safe: the answer was held to its schema.
    const { payoutId } = data as { payoutId: string }
    this.#payouts.set(key, payoutId)
    this.#statuses.set(payoutId, 'requested')
  }

  async #correct(act: string, key: string, given: Record<string, string>): Promise<void> {
    const { code } = await this.#act(act, key, { amount: '0.25', ...given })
    if (code === 20000) this.#corrections += 1
  }

  /** Whatever is closed is sent, and what was sent is paid. Of every four one comes back, and after one a funding is reversed. */
  async #dealWithRuns(): Promise<void> {
    const { runs } = (await this.#must('payout-run.list', { query: { limit: '20' } })) as { runs: Run[] }
    for (const { runId, closedAtMs, sentAtMs, ending } of runs) {
      if (closedAtMs === undefined) continue
      const params = { runId }
      if (sentAtMs === undefined) await this.#ask('payout-run.send', { params, body: { reason } })
      if (!this.#files.has(runId))
        this.#files.set(runId, hashOf(await this.#must('payout-run.export-csv', { params })))
      if (ending === undefined) await this.#ask('payout-run.paid', { params, body: { ...booking, reason } })
      for (const payout of await this.#look(runId)) await this.#afterPaid(payout)
    }
  }

  async #afterPaid({ payoutId }: Paid): Promise<void> {
    const params = { merchantId: this.#merchantId, payoutId }
    const turn = this.#dealtWith.size % 4
    this.#dealtWith.add(payoutId)
    if (turn === 0) await this.#ask('payout.return', { params, body: { ...booking, reason } })
    if (turn === 1) await this.#reverseFunding()
    const { status } = (await this.#must('payout.show', { params })) as Paid
    this.#statuses.set(payoutId, status)
  }

  /** The newest, unless it was reversed before. */
  async #reverseFunding(): Promise<void> {
    const { corrections } = (await this.#must('correction.list', { query: { limit: '5' } })) as {
      corrections: { act: string; transferId: string }[]
    }
    const transferId = corrections.find(({ act }) => act === 'correction.fund')?.transferId
    if (transferId !== undefined)
      await this.#correct('correction.reverse', `reverse-${transferId}`, { transferId })
  }

  async #look(runId: string): Promise<Paid[]> {
    const { payouts } = (await this.#must('payout.list', { query: { runId } })) as { payouts: Paid[] }
    for (const { payoutId, status } of payouts) this.#statuses.set(payoutId, status)
    return payouts.filter(({ payoutId, status }) => status === 'paid' && !this.#dealtWith.has(payoutId))
  }

  async #changedFiles(): Promise<string[]> {
    const changed: string[] = []
    for (const [runId, before] of this.#files) {
      const now = hashOf(await this.#must('payout-run.export-csv', { params: { runId } }))
      if (now !== before) changed.push(`the file of run ${runId} is another one than it was`)
    }
    return changed
  }

  /** Moves money once, however often it is sent. */
  #act(id: string, key: string, given: Record<string, string>): Promise<Answered> {
    const merchantId = this.#merchantId
    const isReversal = id === 'correction.reverse'
    return this.#ask(id, {
      ...(!isReversal && { params: { merchantId } }),
      body: { ...given, ...(isReversal ? { merchantId } : { currency }), reason },
      headers: { 'idempotency-key': `treasurer-${key}` },
    })
  }

  async #must(id: string, request: ApiRequest): Promise<unknown> {
    const { code, msg, data } = await this.#ask(id, request)
    if (code !== 20000) throw new Error(`${id}: ${msg}`)
    return data
  }

  /** Again while there is no answer, or nobody can answer now. */
  async #ask(id: string, request: ApiRequest): Promise<Answered> {
    const deadline = performance.now() + answeredWithinMs
    for (;;) {
      const answer = await this.#api.call(id, request).catch((error: unknown) => {
        if (!isLost(error) || performance.now() > deadline) throw error
        return undefined
      })
      if (answer && ![50300, 42900].includes(answer.code)) return answer
      if (performance.now() > deadline) throw new Error(`${id} gets no answer`)
      await pause(askAgainMs)
    }
  }
}

/** Workers go on with a run: what was sent is paid after a while. Nothing else changes without being told. */
function mayBe(told: string, stored: string | undefined): boolean {
  const ways = ['requested', 'sent', 'paid']
  return stored === told || (ways.includes(told) && ways.indexOf(stored ?? '') > ways.indexOf(told))
}

/** The connection broke: before the answer, or in the middle of it. */
function isLost(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError
}

function hashOf(file: unknown): string {
  return createHash('sha256').update(String(file)).digest('hex')
}
