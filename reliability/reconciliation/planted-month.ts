// A month of payments over two rails and bank transfers, with payouts, and the statements of it in which every kind of break is
// planted, each a known number of times. Everything that the books have comes about by the gateway's own operations.

import assert from 'node:assert/strict'
import { makeWebhookSecret, signRailResponse } from '@tillgate/protocol'
import { noExtras } from '../../packages/gateway/src/actions/rails/rail-actions.ts'
import type { Order } from '../../packages/gateway/src/core/orders/rules/order.ts'
import type { RailPost } from '../../packages/gateway/src/finance/rails/rail-client.ts'
import { creditorReference } from '../../packages/gateway/src/finance/rails/rules/transfer-account.ts'
import type { StatementFile } from '../../packages/gateway/src/finance/reconciliation/read-file.ts'
import type { BreakKind } from '../../packages/gateway/src/finance/reconciliation/rules/match.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import type { Clock } from '../../packages/gateway/src/platform/runtime/clock.ts'
import { dayAfter } from '../../packages/gateway/src/platform/runtime/utc.ts'
import { actingAs } from '../../packages/gateway/test/support/acting.ts'
import { giveDispute } from '../../packages/gateway/test/support/disputes.ts'
import { heldClock } from '../../packages/gateway/test/support/money.ts'
import { giveBankAccount, planFor } from '../../packages/gateway/test/support/payouts.ts'
import { openRails } from '../../packages/gateway/test/support/rails.ts'
import {
  type BankLine,
  camt053,
  continentalColumns,
  continentalCsv,
  overseasColumns,
  overseasCsv,
  type RailLine,
} from './statement-files.ts'

const iban = 'DE89370400440532013000'
const currency = 'EUR'
const firstDay = '2026-11-01'
const days = 30
const railIds = ['card', 'pay'] as const
const dayMs = 86_400_000
const disputedOn = 13
const railSecret = makeWebhookSecret((size) => Buffer.alloc(size, 3))

export interface MonthGiven {
  /** At the end of each day, with the bank's statement of it and of the day before. */
  readonly onStatement: (by: ReturnType<typeof actingAs>, file: StatementFile) => Promise<unknown>
  /** Over all rails. */
  readonly payments: number
  /** Breaks of each kind and way. */
  readonly each: number
}

/** What ought to be found, by account, kind and what it is about. */
export type Planted = `${string} ${BreakKind} ${string}`

export type PlantedMonth = Awaited<ReturnType<typeof plantMonth>>

export async function plantMonth(pool: Pool, { payments, each, onStatement }: MonthGiven) {
  const clock = heldClock(Date.parse(`${firstDay}T08:00:00Z`))
  const rails = await openRails(pool, { clock, lateMoney: 'hold', post: approving(clock) })
  const { operations, money } = rails
  const by = actingAs(operations, 'test')
  await by.banks.changeBank('main', { holder: 'Operator', iban, lines: undefined, bic: undefined }, 'test')
  for (const railId of railIds)
    await by.rails.addRail(
      railId,
      { ...noExtras, name: railId, url: `https://${railId}.example/rail`, currencies: [currency] },
      'test',
      railSecret,
    )
  const account = { holder: 'Operator', iban, bic: undefined, lines: [] }
  await by.rails.addTransferRail(
    'transfer',
    { ...noExtras, name: 'Transfer', currencies: [currency], account },
    'test',
  )
  operations.railDirectory.forget()
  const merchants = await Promise.all(Array.from({ length: 4 }, () => money.addMerchant()))
  for (const { merchantId } of merchants) await giveBankAccount(pool, merchantId, currency)

  const planted: Planted[] = []
  const bank: BankLine[] = []
  const railLines = { card: [] as RailLine[], pay: [] as RailLine[] }
  /** Orders that a line is for which does not say so. */
  const unnamed = new Map<string, string>()
  /** On the days of planted breaks there is room for all of them. */
  const perDay = (index: number) =>
    Math.max(Math.ceil(payments / days / 3), index === 4 || index === 6 ? 6 * each : 1)
  let entries = 0
  let strange = 0
  const plant = (where: string, kind: BreakKind, about: string) => planted.push(`${where} ${kind} ${about}`)
  const bankLine = (line: Omit<BankLine, 'reference'>): string => {
    const reference = `B${String(++entries).padStart(6, '0')}`
    bank.push({ reference, ...line })
    return reference
  }

  for (let index = 0; index < days; index++) {
    const day = dayAfter(firstDay, index)
    for (const railId of railIds) await railDay(railId, day, index)
    await transferDay(day, index)
    for (const railId of railIds) settleRail(railId, day)
    if (index === 11) await payoutDay(day)
    clock.advance(dayMs / 2)
    await onStatement(by, statementOf(index === 0 ? day : dayAfter(day, -1), day, index))
    clock.advance(dayMs / 2)
  }
  return {
    ...rails,
    pool,
    by,
    clock,
    planted: planted.toSorted(),
    unnamed,
    days,
    firstDay,
    files: {
      card: fileOf('card.csv', continentalCsv(railLines.card, currency)),
      pay: fileOf('pay.csv', overseasCsv(railLines.pay, currency)),
    },
  }

  async function railDay(railId: 'card' | 'pay', day: string, index: number): Promise<void> {
    const batch = `${railId}-${day.replaceAll('-', '')}`
    const paid = await inTurns(perDay(index), async (number) => {
      const order = await money.addOrder(merchantOf(number), {
        currency,
        amountMinor: BigInt(500 + ((number * 37 + index) % 9_000)),
      })
      const outcome = await operations.payByRail.start({ ...order, railId, locale: 'en' })
      assert.equal(outcome.kind, 'started')
      const [attempt] = await rails.stores.attempts.listAttempts(order)
      assert(attempt?.status === 'approved', attempt?.status)
      const { transactionId } = attempt
      const amountMinor = order.paymentAmountMinor
      return {
        railId,
        reference: `${railId}-${transactionId}`,
        transactionId,
        day,
        amountMinor,
        feeMinor: amountMinor / 50n,
        batch,
        order,
      }
    })
    const out = railLines[railId]
    const where = `rail:${railId}`
    paid.forEach((line, number) => {
      // On one day all of them, so that those of a batch meet.
      const way = index === 4 ? Math.floor(number / each) : -1
      out.push(...plantedLines(line, way))
    })
    const [charged] = paid
    if (index === disputedOn && charged) out.push(await chargeback(charged))
    if (index !== 4) return
    for (let number = 0; number < each; number++) {
      const reference = `strange-${railId}-${++strange}`
      plant(where, 'missing_here', reference)
      out.push({ reference, transactionId: '', day, amountMinor: 777n, feeMinor: 0n, batch })
    }
  }

  /** The rail takes a part back and keeps a fee. */
  async function chargeback({
    order,
    ...line
  }: RailLine & { readonly railId: string; readonly order: Order }) {
    const amountMinor = 200n
    const given = { ...order, railId: line.railId, amountMinor, nowMs: clock.now() }
    const reference = await giveDispute(pool, given)
    return { ...line, reference, transactionId: '', amountMinor: -amountMinor, feeMinor: 15n }
  }

  /** What the rail's statement has instead of this payment's line. */
  function plantedLines(line: RailLine & { readonly railId: string }, way: number): RailLine[] {
    const where = `rail:${line.railId}`
    switch (way) {
      case 0:
        plant(where, 'missing_there', line.transactionId)
        return []
      case 1:
        plant(where, 'amount_differs', line.reference)
        return [{ ...line, amountMinor: line.amountMinor - 100n }]
      case 2:
        plant(where, 'twice', line.reference)
        return [line, line]
      case 3: {
        plant(where, 'late', line.reference)
        const day = dayAfter(line.day, 9)
        return [{ ...line, day, batch: `${line.railId}-${day.replaceAll('-', '')}` }]
      }
      case 4: {
        // The rail wrote the reference wrongly: one line too many there, one too few here.
        const reference = `garbled-${line.railId}-${++strange}`
        plant(where, 'missing_there', line.transactionId)
        plant(where, 'missing_here', reference)
        return [{ ...line, reference, transactionId: '' }]
      }
      default:
        return [line]
    }
  }

  async function transferDay(day: string, index: number): Promise<void> {
    const orders = await inTurns(perDay(index), async (number) => {
      const amountMinor = BigInt(1_000 + number)
      const order = await money.addOrder(merchantOf(number), {
        currency,
        amountMinor,
        lifeMs: dayMs,
      })
      const outcome = await operations.payByRail.start({ ...order, railId: 'transfer', locale: 'de' })
      assert.equal(outcome.kind, 'started')
      return order
    })
    orders.forEach(({ paymentId, paymentAmountMinor: amountMinor }, number) => {
      const text = `Invoice ${grouped(creditorReference(paymentId))} thank you`
      const way = index === 6 ? Math.floor(number / each) : -1
      const pay = (minor = amountMinor, written = text, on = day) =>
        bankLine({ day: on, amountMinor: minor, text: written })
      if (way === 0) plant('bank:main', 'amount_differs', pay(amountMinor + 250n))
      else if (way === 1) {
        pay()
        plant('bank:main', 'twice', bankLine({ day: dayAfter(day, 1), amountMinor, text }))
      } else if (way === 2) {
        pay(amountMinor / 2n)
        pay(amountMinor - amountMinor / 2n)
      } else if (way === 3) plant('bank:main', 'late', pay(amountMinor, text, dayAfter(day, 1)))
      else if (way === 4) {
        const reference = pay(amountMinor, 'I forgot what to write here')
        plant('bank:main', 'missing_here', reference)
        unnamed.set(reference, paymentId)
      } else pay()
    })
    if (index === 6)
      for (let number = 0; number < each; number++)
        plant(
          'bank:main',
          'missing_here',
          bankLine({ day, amountMinor: -350n - BigInt(number), text: 'Account fee' }),
        )
  }

  async function payoutDay(day: string): Promise<void> {
    const [first, ...planned] = merchants
    assert(first)
    for (let number = 0; number < each; number++)
      for (const way of ['paid', 'returned', 'missing', 'differs'] as const) {
        const given = {
          merchantId: first.merchantId,
          currency,
          amountMinor: 300n + BigInt(number),
          bankName: 'main',
        }
        const { payoutId } = await by.payouts.requestPayout(given, { reason: 'test' })
        await send((await by.payouts.findPayout({ merchantId: first.merchantId, payoutId })).runId)
        const amountMinor = -given.amountMinor
        if (way === 'missing') plant('bank:main', 'missing_there', payoutId)
        else {
          const minor = way === 'differs' ? amountMinor + 10n : amountMinor
          const reference = bankLine({ day: dayAfter(day, 1), amountMinor: minor, endToEndId: payoutId })
          if (way === 'differs') plant('bank:main', 'amount_differs', reference)
        }
        if (way === 'returned')
          bankLine({ day: dayAfter(day, 3), amountMinor: -amountMinor, endToEndId: payoutId, isReturn: true })
      }
    // One entry for a whole run.
    for (const { merchantId } of planned)
      await by.payoutPlans.setPlan(planFor(merchantId, { currency, leastMinor: 1n }), 'test')
    clock.advance(dayMs)
    for (let more = true; more; ) ({ more } = await operations.workPayouts())
    for (const run of await by.payoutRuns.listRuns({ limit: 5 })) {
      if (run.part === undefined || run.sentAtMs !== undefined) continue
      await send(run.runId)
      const { totals } = await by.payoutRuns.showRun(run.runId)
      const sum = totals.reduce((total, { sumMinor }) => total + sumMinor, 0n)
      bankLine({ day: dayAfter(day, 2), amountMinor: -sum, batchId: run.runId.replaceAll('-', '') })
    }
    for (const { merchantId } of planned)
      await by.payoutPlans.setPlan(planFor(merchantId, { currency, schedule: 'hand' }), 'test')
    clock.advance(-dayMs)
  }

  async function send(runId: string): Promise<void> {
    for (let more = true; more; ) ({ more } = await operations.workPayouts())
    await by.payoutRuns.sendRun(runId, 'test')
  }

  /** Two days after its last line, net of the fee. */
  function settleRail(railId: 'card' | 'pay', day: string): void {
    const batch = `${railId}-${dayAfter(day, -2).replaceAll('-', '')}`
    const of = railLines[railId].filter((line) => line.batch === batch)
    if (of.length === 0) return
    const net = of.reduce((sum, { amountMinor, feeMinor }) => sum + amountMinor - feeMinor, 0n)
    const isWrong = day > dayAfter(firstDay, 20) && day <= dayAfter(firstDay, 20 + each)
    const reference = bankLine({
      day,
      amountMinor: isWrong ? net - 25n : net,
      text: `PAYOUT ${batch} THANK YOU`,
    })
    if (isWrong) plant('bank:main', 'amount_differs', reference)
  }

  /** In all three versions, one after the other. */
  function statementOf(from: string, through: string, index: number): StatementFile {
    const before = bank
      .filter(({ day }) => day < from)
      .reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
    const lines = bank.filter(({ day }) => day >= from && day <= through)
    const version = ([2, 4, 8] as const)[index % 3] ?? 2
    return fileOf(
      `${through}.xml`,
      camt053({ iban, currency, version, from, through, openingMinor: before, lines }),
    )
  }

  function merchantOf(number: number) {
    const merchant = merchants[number % merchants.length]
    assert(merchant)
    return merchant
  }
}

export const mappings = { card: continentalColumns, pay: overseasColumns } as const

export function fileOf(name: string, text: string): StatementFile {
  return {
    name,
    async *open() {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
    },
  }
}

function grouped(reference: string): string {
  return reference.replace(/(.{4})(?=.)/g, '$1 ')
}

/** A rail that approves at once. */
function approving(clock: Clock): RailPost {
  return async ({ url, body, headers }) => {
    const { transactionId } = JSON.parse(body) as { transactionId: string }
    const reference = `${new URL(url).host.split('.')[0]}-${transactionId}`
    const answer = Buffer.from(JSON.stringify({ status: 'approved', reference }))
    const signed = signRailResponse(headers, answer, { secrets: [railSecret], nowMs: clock.now() })
    return { kind: 'answered', httpStatus: 200, headers: signed, answer, durationMs: 1 }
  }
}

async function inTurns<Made>(count: number, make: (number: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = []
  for (let from = 0; from < count; from += 6)
    made.push(
      ...(await Promise.all(Array.from({ length: Math.min(6, count - from) }, (_, at) => make(from + at)))),
    )
  return made
}
