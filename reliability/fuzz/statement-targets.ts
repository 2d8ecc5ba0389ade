// What reads statements, in this process: whatever bytes come, whole or in pieces, the outcome is lines or a Failure that says
// what to change, and the pieces that they come in make no difference.
import assert from 'node:assert/strict'
import { Failure } from '@tillgate/protocol'
import { makeCamtReader } from '../../packages/gateway/src/finance/reconciliation/rules/camt053.ts'
import { makeCsvReader } from '../../packages/gateway/src/finance/reconciliation/rules/csv.ts'
import { makeDecoder } from '../../packages/gateway/src/finance/reconciliation/rules/decode.ts'
import { makeMt940Reader } from '../../packages/gateway/src/finance/reconciliation/rules/mt940.ts'
import type {
  StatementItem,
  StatementReader,
} from '../../packages/gateway/src/finance/reconciliation/rules/statement.ts'
import { camt053, continentalColumns, continentalCsv } from '../reconciliation/statement-files.ts'
import type { Target } from './guided.ts'

const statement = {
  iban: 'DE89370400440532013000',
  currency: 'EUR',
  from: '2026-11-01',
  through: '2026-11-02',
  openingMinor: 5n,
} as const
const lines = [
  { reference: 'B1', day: '2026-11-01', amountMinor: 100n, endToEndId: 'E1', text: 'RF18 5390 0754 7034' },
  { reference: 'B2', day: '2026-11-02', amountMinor: -7n, batchId: 'run', isReturn: true },
]
const row = {
  reference: 'R1',
  transactionId: 'T1',
  day: '2026-11-01',
  amountMinor: 1234n,
  feeMinor: 5n,
  batch: 'S1',
}

const mt940 =
  ':20:S1\n:25:DE89370400440532013000\n:28C:1/1\n:60F:C261101EUR0,05\n:61:2611011101C1,NTRFE1//B1\n:86:166?00CREDIT?20EREF+E1?32ADA\n:61:2611021102RC0,07NTRFNONREF\n:86:/EREF/E2//REMI/USTD//Order/\n:62F:C261102EUR0,98\n-\n'

export function statementTargets(): Target[] {
  const statements = ([2, 4, 8] as const).map((version) => camt053({ ...statement, version, lines }))
  const quoted = 'Reference;Order;Date;Gross;Fee;Payout\n"a;""b";;01.11.2026;1,00;;\n'
  return [
    reading('camt.053 statement', makeCamtReader, statements),
    reading('CSV statement', () => makeCsvReader(continentalColumns, { batches: true }), [
      continentalCsv([row, { ...row, amountMinor: -1n }], 'EUR'),
      quoted,
    ]),
    reading('MT940 statement', makeMt940Reader, [mt940]),
  ]
}

function reading(name: string, make: () => StatementReader, seeds: readonly string[]): Target {
  return {
    name,
    seeds: seeds.map((seed) => Buffer.from(seed)),
    async run(input) {
      const whole = read(input, make(), Number.POSITIVE_INFINITY)
      const pieces = read(input, make(), 7)
      // Which error is met first may differ; whether there is one may not.
      if (typeof whole === 'string') assert.equal(typeof pieces, 'string')
      else assert.deepEqual(pieces, whole)
      return typeof whole === 'string' ? 'refused' : 'read'
    },
  }
}

function read(bytes: Buffer, reader: StatementReader, piece: number): StatementItem[] | string {
  const items: StatementItem[] = []
  try {
    const decoder = makeDecoder()
    const text = decoder.write(bytes) + decoder.end()
    for (let at = 0; at < text.length; at += piece) items.push(...reader.write(text.slice(at, at + piece)))
    return [...items, ...reader.end()]
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}
