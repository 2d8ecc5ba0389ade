// The bank's statements and the operator who imports them. The bank leaves lines out, writes some twice, some into a later
// statement, and some of two payments as one; the operator imports again where no answer came, and closes days.

import { toDecimalText } from '@tillgate/protocol'
import type { CsvMapping } from '../../packages/gateway/src/finance/reconciliation/rules/csv.ts'
import type { ReconciledDay } from '../../packages/gateway/src/finance/reconciliation/store/days.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { dayAfter } from '../../packages/gateway/src/platform/runtime/utc.ts'
import { actingAs } from '../../packages/gateway/test/support/acting.ts'
import { testOperations } from '../../packages/gateway/test/support/operations.ts'
import { bankRailId, type SimulatedBank } from '../simulation/bank.ts'
import type { StatementRecord, WrittenLine } from '../simulation/invariants/statements.ts'
import { untilAnswered, type World } from '../simulation/people.ts'
import { vault } from '../simulation/simulated-gateway.ts'

const account = `rail:${bankRailId}`
const reason = 'simulation'
const columns: CsvMapping = {
  separator: ',',
  decimalSign: '.',
  dayForm: 'YYYY-MM-DD',
  sign: 'as_written',
  day: 'day',
  amount: 'amount',
  currency: 'USD',
  references: ['reference', 'payment'],
}
const mapping = { mappingName: 'bank', account, settlesTo: undefined, columns }

export class Bookkeeper implements StatementRecord {
  readonly #world: World
  readonly #bank: SimulatedBank
  /** In statements that are imported for certain. */
  readonly lines: WrittenLine[] = []
  readonly closed: ReconciledDay[] = []
  /** What the bank wrote, or never will. */
  readonly #written = new Set<string>()
  #late: WrittenLine[] = []

  constructor(world: World, bank: SimulatedBank) {
    this.#world = world
    this.#bank = bank
  }

  /** A statement of all that is new, imported until somebody says that it is, now and then by two at once. */
  async importStatement(name: string): Promise<void> {
    const seeded = this.#world.seeded.stream(name)
    await this.#certain(name, (gateway) => gateway.reconciliation.mappings.saveMapping(mapping, reason))
    const lines = this.#write(name)
    if (lines.length === 0) return
    const given = { file: { name, open: () => bytesOf(lines) }, mapping: mapping.mappingName, reason }
    await Promise.all(
      Array.from({ length: seeded.isLucky(0.3) ? 2 : 1 }, (_, index) =>
        this.#certain(`${name} ${index}`, (gateway) => gateway.reconciliation.importStatement(given)),
      ),
    )
    this.lines.push(...lines)
    if (seeded.isLucky(0.5)) await this.#close(name)
  }

  /** At the end, past all faults: what the worker would do in its next turn. */
  async finish(pool: Pool): Promise<void> {
    if (this.lines.length === 0) return
    const seeded = this.#world.seeded.stream('last reconciliation')
    const clock = { now: () => this.#world.now(), wait: async () => {} }
    const { operations } = testOperations(pool, { clock, vault, random: (count) => seeded.bytes(count) })
    await actingAs(operations, 'simulation').reconciliation.matchLines(account)
  }

  #write(name: string): WrittenLine[] {
    const seeded = this.#world.seeded.stream(`${name} written`)
    const lines = this.#late
    this.#late = []
    for (const entry of this.#bank.entries()) {
      if (this.#written.has(entry.reference)) continue
      this.#written.add(entry.reference)
      const line: WrittenLine = { ...entry, isWhole: true }
      const before = lines.at(-1)
      switch (seeded.weighted({ plain: 70, lost: 8, twice: 8, late: 8, merged: 6 })) {
        case 'lost':
          break
        case 'twice':
          lines.push(line, line)
          break
        case 'late':
          this.#late.push(line)
          break
        case 'merged':
          if (before?.isWhole && before.amountMinor > 0n && line.amountMinor > 0n)
            lines[lines.length - 1] = {
              ...before,
              amountMinor: before.amountMinor + line.amountMinor,
              isWhole: false,
            }
          else lines.push(line)
          break
        default:
          lines.push(line)
      }
    }
    return lines
  }

  async #close(name: string): Promise<void> {
    const day = dayAfter(new Date(this.#world.now()).toISOString().slice(0, 10), -5)
    const answer = await untilAnswered(
      { world: this.#world, seeded: this.#world.seeded.stream(`${name} closes`) },
      () =>
        this.#world.call((gateway) =>
          gateway.reconciliation.days.closeDay({ account, currency: 'USD' }, day, reason),
        ),
    )
    if (answer.kind === 'answered') this.closed.push(...answer.value)
  }

  async #certain(name: string, ask: Parameters<World['call']>[0]): Promise<void> {
    const seeded = this.#world.seeded.stream(name)
    for (;;) {
      const answer = await untilAnswered({ world: this.#world, seeded }, () => this.#world.call(ask))
      if (answer.kind === 'refused') throw answer.failure
      if (answer.kind === 'answered') return
    }
  }
}

async function* bytesOf(lines: readonly WrittenLine[]): AsyncGenerator<Uint8Array> {
  const rows = lines.map(({ reference, paymentReference, day, amountMinor }) => {
    const amount = toDecimalText(amountMinor < 0n ? -amountMinor : amountMinor, 'USD')
    return `${reference},${paymentReference},${day},${amountMinor < 0n ? '-' : ''}${amount}`
  })
  yield Buffer.from(`reference,payment,day,amount\n${rows.join('\n')}\n`)
}
