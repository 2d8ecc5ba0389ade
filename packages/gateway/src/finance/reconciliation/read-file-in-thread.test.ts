// A worker thread and the main thread read files with the same result and the same errors.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  camt053,
  continentalColumns,
  continentalCsv,
} from '../../../../../reliability/reconciliation/statement-files.ts'
import { readHere, type StatementFile, type StatementFiles } from './read-file.ts'
import { makeReadInThread } from './read-file-in-thread.ts'
import type { FileBatch, FileGiven } from './rules/statement-file.ts'

const iban = 'DE89370400440532013000'
const given: FileGiven = {
  mapping: undefined,
  account: undefined,
  accounts: [
    { account: 'bank:main', iban, number: undefined, currency: 'EUR' },
    { account: 'rail:card', iban: undefined, number: undefined, currency: undefined },
  ],
  lastDay: '2026-12-03',
}
const byMapping: FileGiven = {
  ...given,
  mapping: { mappingName: 'card', account: 'rail:card', settlesTo: 'main', columns: continentalColumns },
}
const count = 700
const files = filesOf(count)

function filesOf(
  lineCount: number,
): Readonly<Record<string, { readonly text: string; readonly given: FileGiven }>> {
  const each = <Item>(make: (at: number) => Item) => Array.from({ length: lineCount }, (_, at) => make(at))
  return {
    'camt.053': {
      given,
      text: camt053({
        iban,
        currency: 'EUR',
        version: 8,
        from: '2026-11-01',
        through: '2026-11-30',
        openingMinor: 5n,
        lines: each((at) => ({
          reference: `B${at}`,
          day: '2026-11-05',
          amountMinor: BigInt(at + 1),
          text: `Straße №${at}`,
        })),
      }),
    },
    mt940: {
      given,
      text: `:20:S1\n:25:${iban}\n:28C:1\n:60F:C261101EUR0,00\n${each(
        (at) => `:61:2611051105C${at + 1},00NTRFNONREF//B${at}\n:86:166?00X?20EREF+T${at}?32Ada`,
      ).join('\n')}\n:62F:C261130EUR245350,00\n`,
    },
    csv: {
      given: byMapping,
      text: continentalCsv(
        each((at) => ({
          reference: `R${at}`,
          transactionId: `T${at}`,
          day: '2026-11-05',
          amountMinor: BigInt(at + 1),
          feeMinor: 1n,
          batch: 'B1',
        })),
        'EUR',
      ),
    },
  }
}

function inPieces(text: string, pieceLength: number): StatementFile {
  const bytes = Buffer.from(text)
  return {
    name: 'a file',
    async *open() {
      for (let at = 0; at < bytes.length; at += pieceLength) yield bytes.subarray(at, at + pieceLength)
    },
  }
}

async function readBy(statementFiles: StatementFiles, file: StatementFile, by: FileGiven) {
  const batches: FileBatch[] = []
  const inspected = await statementFiles.inspect(file, by)
  const read = await statementFiles.batches(file, by, async (batch) => void batches.push(batch))
  return { inspected, read, batches }
}

for (const [format, { text, given }] of Object.entries(files))
  test(`${format} is read in a thread as in this one, whatever the pieces in which it comes`, async () => {
    const here = await readBy(readHere, inPieces(text, text.length * 2), given)
    assert.equal(here.inspected.summary.format, format)
    assert.equal(here.inspected.summary.lines, count)
    const lines = here.batches.map((batch) => batch.lines.length)
    assert(lines.length === 3 && Math.max(...lines) <= 250, `batches of ${lines.join(', ')} lines`)
    const short = filesOf(10)[format]?.text ?? ''
    const shortHere = await readBy(readHere, inPieces(short, short.length * 2), given)
    assert.equal(shortHere.inspected.summary.lines, 10)
    assert.deepEqual(await readBy(readHere, inPieces(short, 1), given), shortHere)
    assert.deepEqual(await readBy(readHere, inPieces(text, 1_021), given), here)
    assert.deepEqual(await readBy(makeReadInThread(), inPieces(text, 10_007), given), here)
    assert.deepEqual(await readBy(makeReadInThread(), inPieces(text, text.length * 2), given), here)
  })

test('an error in a file is the same failure from a thread', async () => {
  const { text } = files['camt.053'] ?? { text: '' }
  const statementFiles = makeReadInThread()
  for (const [file, by] of [
    [inPieces('', 1), given],
    [inPieces(text.slice(0, 5_000), 1_000), given],
    [inPieces('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 10), given],
    [inPieces('no statement', 5), given],
    [inPieces(text, 1_000), byMapping],
    [inPieces(text, 1_000), { ...given, account: 'bank:none' }],
    [inPieces(text, 1_000), { ...given, lastDay: '2026-11-04' }],
  ] as const) {
    const failed = await readHere.inspect(file, by).catch((error: unknown) => error)
    assert(failed instanceof Error)
    const { message, name, ...rest } = failed
    const expected = { ...rest, name, message }
    await assert.rejects(statementFiles.inspect(file, by), expected)
    await assert.rejects(
      statementFiles.batches(file, by, async () => {}),
      expected,
    )
  }
})

test('an error of the file or of a batch’s consumer ends the thread with that error', async () => {
  const statementFiles = makeReadInThread()
  const { text } = files['camt.053'] ?? { text: '' }
  const broken: StatementFile = {
    name: 'broken',
    async *open() {
      yield Buffer.from(text.slice(0, 1_000))
      throw new Error('the disk is gone')
    },
  }
  await assert.rejects(statementFiles.inspect(broken, given), /the disk is gone/)
  const refusing = async () => {
    throw new Error('the database is gone')
  }
  await assert.rejects(statementFiles.batches(inPieces(text, 1_000), given, refusing), /the database is gone/)
  assert.equal((await statementFiles.inspect(inPieces(text, 1_000), given)).summary.lines, count)
})

test('the event loop is not blocked while an entry with many transactions is read', async () => {
  const details = '<TxDtls><Amt Ccy="EUR">1</Amt></TxDtls>'.repeat(50_000)
  const text = `<Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>${iban}</IBAN></Id></Acct><Ntry><Amt Ccy="EUR">50000</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-05</Dt></BookgDt><NtryDtls>${details}</NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>`
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  const { summary } = await makeReadInThread().inspect(inPieces(text, 65_536), given)
  clearInterval(counting)
  assert.equal(summary.lines, 50_000)
  assert(turns > 50, `${turns} turns`)
})
