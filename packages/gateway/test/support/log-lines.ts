// A log whose lines a test can read.
import { Writable } from 'node:stream'
import { type Log, makeLog } from '../../src/platform/runtime/log.ts'

export type LogLine = Readonly<Record<string, unknown>>

export async function readableLog(logLevel = 'info'): Promise<{ log: Log; lines: LogLine[] }> {
  const lines: LogLine[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  return { log: await makeLog({ logLevel, logFormat: 'json' }, stream), lines }
}
