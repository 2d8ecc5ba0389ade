// A large statement on the command line, in a process with a small heap: what is held is a page of it, however long it is.
// MEGABYTES=200 is the whole, which takes minutes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { after, test } from 'node:test'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { startTestGateway } from '../support/gateway.ts'

const bytes = Number(process.env['MEGABYTES'] ?? 20) * 1_000_000
const heapMb = 80
/** Heap, code, buffers and stacks. A file that were held would be above it twice over: as text and as lines. */
const mostResidentMb = 300
/** As long as banks make them that say all that they know. */
const remittance = 'Thank you for your order, which is on its way to you. '.repeat(34)

// Nobody but the command looks for matches.
const { pool, config } = await startTestGateway({ environment: { ROLES: 'api' } })
const folder = mkdtempSync(join(tmpdir(), 'statement-'))
after(() => rmSync(folder, { recursive: true }))

test(`${bytes} bytes of statement are imported in bounded memory`, { timeout: 1_200_000 }, async () => {
  const file = join(folder, 'large.xml')
  let lines = 0
  await pipeline(function* () {
    const [head = '', entry = '', tail = ''] = partsOf()
    yield head
    for (let written = 0; written < bytes; written += entry.length)
      yield entry.replaceAll('B000000', `B${String(++lines).padStart(6, '0')}`)
    yield tail
  }, createWriteStream(file))
  assert(statSync(file).size >= bytes)

  const { out, err, residentMb } = await importFile(file)
  assert.match(
    out,
    new RegExp(`${lines} new lines were imported, 0 were already imported\\. 0 matches, ${lines} breaks`),
    err,
  )
  assert(residentMb < mostResidentMb, `the process had ${residentMb} MB`)
  const { rows } = await pool.query<{ count: string }>('select count(*) from statement_lines')
  assert.equal(Number(rows[0]?.count), lines)
})

/** Before the entry, the entry, and after it. */
function partsOf(): string[] {
  const of = { iban: 'DE89370400440532013000', currency: 'EUR', version: 8, openingMinor: 0n } as const
  const days = { from: '2026-01-05', through: '2026-01-06' }
  const line = { reference: 'B000000', day: '2026-01-05', amountMinor: 500n, text: `B000000 ${remittance}` }
  return camt053({ ...of, ...days, lines: [line] }).split(/(?=<Ntry>)|(?<=<\/Ntry>)/)
}

async function importFile(file: string): Promise<{ out: string; err: string; residentMb: number }> {
  const script = join(import.meta.dirname, '../../tillgate.js')
  const words = ['reconcile', 'import', file, '--account', 'bank:main', '--reason', 'large']
  const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, script, ...words], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: config.databaseUrl ?? '',
      MASTER_KEY: config.masterKey?.toString('base64') ?? '',
    },
  })
  let residentMb = 0
  const timer = setInterval(() => {
    residentMb = Math.max(residentMb, residentMbOf(child.pid ?? 0))
  }, 50)
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  clearInterval(timer)
  return { out, err, residentMb }
}

/** The most that it ever had, by the kernel's count; 0 once it is gone, or where there is no such count. */
function residentMbOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_000
  } catch {
    return 0
  }
}
