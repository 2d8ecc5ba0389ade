// Reads a statement file twice: to inspect it, and to write it. On the calling thread or in a separate one
// (read-file-in-thread.ts), with the same results.
import { createHash } from 'node:crypto'
import { type AccountSpan, type FileSummary, makeSummary } from './rules/file-summary.ts'
import { type FileBatch, type FileGiven, makeFileReader } from './rules/statement-file.ts'
import { unpacked } from './unpack.ts'

/** Read from the start each time. */
export interface StatementFile {
  readonly name: string
  readonly open: () => AsyncIterable<Uint8Array>
}

export interface Inspected {
  readonly summary: FileSummary
  readonly spans: readonly AccountSpan[]
  readonly sha256: string
}

export type PutBatch = (batch: FileBatch) => Promise<void>

/** Both throw a Failure that describes the file's error. */
export interface StatementFiles {
  readonly inspect: (file: StatementFile, given: FileGiven) => Promise<Inspected>
  readonly batches: (
    file: StatementFile,
    given: FileGiven,
    put: PutBatch,
  ) => Promise<{ readonly skipped: number; readonly sha256: string }>
}

export const readHere: StatementFiles = {
  async inspect(file, given) {
    const summary = makeSummary()
    const sha256 = await read(file, given, async (batch) => summary.add(batch))
    return { summary: summary.read(), spans: summary.spans(), sha256 }
  },

  async batches(file, given, put) {
    let skipped = 0
    const sha256 = await read(file, given, (batch) => {
      skipped += batch.skipped
      return put(batch)
    })
    return { skipped, sha256 }
  },
}

/** Returns the file's SHA-256. */
async function read(file: StatementFile, given: FileGiven, put: PutBatch): Promise<string> {
  const reader = makeFileReader(given, () => createHash('sha256'))
  for await (const bytes of unpacked(file.open())) for (const batch of reader.write(bytes)) await put(batch)
  const { batches, sha256 } = reader.end()
  for (const batch of batches) await put(batch)
  return sha256
}
