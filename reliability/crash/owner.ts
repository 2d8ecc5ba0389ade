// The operator's own money under load, over the admin API: an opening balance, deposits, withdrawals, swept fees, and charges that
// are booked from a statement. Whatever was acknowledged is written down, and must be there once.
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import type { ApiRequest } from '../../packages/gateway/test/support/admin-api.ts'
import type { Answered } from '../../packages/gateway/test/support/gateway.ts'
import { camt053 } from '../reconciliation/statement-files.ts'

/** Until there is an answer. */
export type Ask = (id: string, request: ApiRequest) => Promise<Answered>

const bankName = 'own'
const account = `bank:${bankName}`
const currency = 'EUR'
const iban = 'DE75512108001245126199'
const reason = 'kill cycles'
const depositMinor = 1_000n
const withdrawalMinor = 300n
const chargeMinor = 7n
const openingMinor = 50_000n
const day = '2026-01-05'

export class Owner {
  readonly #ask: Ask
  #told = { opening_balance: 0, owner_deposit: 0, owner_withdrawal: 0, bank_charge: 0 }
  #sweeps = 0

  constructor(ask: Ask) {
    this.#ask = ask
  }

  async open(): Promise<void> {
    await this.#ask('bank.add', { body: { bankName, currency, holder: 'Shop', iban, reason } })
    await this.#ask('price.set', { body: { currency, basisPoints: 100, reason } })
  }

  get figures() {
    const { opening_balance, owner_deposit, owner_withdrawal, bank_charge } = this.#told
    return {
      ownMoves: opening_balance + owner_deposit + owner_withdrawal + bank_charge + this.#sweeps,
      sweeps: this.#sweeps,
    }
  }

  async turn(round: number): Promise<void> {
    // Under another key each time: the first one that is acknowledged stands.
    if (this.#told.opening_balance === 0)
      await this.#move('opening_balance', 'bank.opening-balance', round, { amount: '500.00', day })
    await this.#move('owner_deposit', 'bank.deposit', round, { amount: '10.00' })
    if (round % 3 === 1) await this.#move('owner_withdrawal', 'bank.withdraw', round, { amount: '3.00' })
    if (round % 4 === 2 && (await this.#send('bank.sweep-fees', `sweep-${round}`, { fromBank: 'main' })))
      this.#sweeps += 1
    if (round % 4 === 3) await this.#bookCharge(round)
  }

  /** All that is not as it was told. */
  async check(pool: Pool): Promise<string[]> {
    const { rows } = await pool.query<{ kind: string; count: string; amount: string }>(
      `select kind, count(*), sum(amount_minor) as amount from transfers
        where kind in ('opening_balance', 'owner_deposit', 'owner_withdrawal', 'bank_charge') group by kind`,
    )
    const { rows: swept } = await pool.query<{ count: string }>(
      `select count(distinct audit_id) from transfers where kind = 'fee_sweep'`,
    )
    const each = {
      opening_balance: openingMinor,
      owner_deposit: depositMinor,
      owner_withdrawal: withdrawalMinor,
      bank_charge: chargeMinor,
    }
    const wrong = Object.entries(this.#told).flatMap(([kind, times]) => {
      const found = rows.find((row) => row.kind === kind)
      // Safe: it is one of its keys.
      const toldOf = `${times} of ${BigInt(times) * each[kind as keyof typeof each]}`
      const stored = `${found?.count ?? 0} of ${found?.amount ?? 0}`
      return stored === toldOf ? [] : [`${kind}: ${toldOf} were acknowledged, ${stored} are there`]
    })
    const sweeps = Number(swept[0]?.count)
    return sweeps === this.#sweeps
      ? wrong
      : [...wrong, `${this.#sweeps} sweeps were acknowledged, ${sweeps} are there`]
  }

  /** A statement of one charge; whatever is open of such is booked. */
  async #bookCharge(round: number): Promise<void> {
    const line = { reference: `charge-${round}`, day, amountMinor: -chargeMinor, text: 'Account fee' }
    const span = { from: day, through: day, openingMinor: 0n, lines: [line] } as const
    const file = camt053({ iban, currency, version: 8, ...span }).replace(/<Bal>.*<\/Bal>/, '')
    await this.#ask('reconcile.import', { file, query: { reason } })
    const { data } = await this.#ask('reconcile.list', { query: { account, kind: 'missing_here' } })
    // Safe: the answer was held to its schema.
    const { breaks } = data as { breaks: { breakId: string }[] }
    for (const { breakId } of breaks) {
      const headers = { 'idempotency-key': `owner-charge-${breakId}` }
      const body = { as: 'bank_charge', reason }
      const { code } = await this.#ask('reconcile.book-as', { params: { breakId }, body, headers })
      if (code === 20000) this.#told.bank_charge += 1
    }
  }

  async #move(
    kind: 'opening_balance' | 'owner_deposit' | 'owner_withdrawal',
    id: string,
    round: number,
    given: Record<string, string>,
  ): Promise<void> {
    if (await this.#send(id, `${kind}-${round}`, given)) this.#told[kind] += 1
  }

  /** Moves money once, however often it is sent. */
  async #send(id: string, key: string, given: Record<string, string>): Promise<boolean> {
    const { code } = await this.#ask(id, {
      params: { bankName },
      body: { ...given, currency, reason },
      headers: { 'idempotency-key': `owner-${key}` },
    })
    return code === 20000
  }
}
