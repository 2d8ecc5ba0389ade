// Reads statement files in a separate thread, because parsing 16 MiB takes seconds that would block the event loop.
// Bytes go in, and batches come back as fast as they are consumed.
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Failure } from '@tillgate/protocol'
import { makeTurns } from '../../platform/runtime/turns.ts'
import type { Inspected, PutBatch, StatementFile, StatementFiles } from './read-file.ts'
import type { FromThread, ThreadTask } from './statement-thread.ts'

/** A second file waits, because it would take processor time from payments. */
const threadsAtOnce = 1
/** Sent to the thread at once. */
const pieceBytes = 64 * 1024

export function makeReadInThread(): StatementFiles {
  const inTurn = makeTurns(threadsAtOnce)
  return {
    inspect: (file, given) =>
      // Safe: the thread's task returns this.
      inTurn(() => run({ kind: 'inspect', given }, file) as Promise<Inspected>),
    batches: (file, given, put) =>
      inTurn(
        () => run({ kind: 'batches', given }, file, put) as Promise<{ skipped: number; sha256: string }>,
      ),
  }
}

async function run(task: ThreadTask, file: StatementFile, put: PutBatch = unwanted): Promise<unknown> {
  const thread = new Worker(new URL('./statement-thread.ts', import.meta.url), {
    workerData: task,
    // Node 24 warns about stripTypeScriptTypes, which runs this program.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const pieces = piecesOf(file)
  try {
    // Rejects with the thread's error. Safe: the thread sends nothing else.
    for await (const [message] of on(thread, 'message', { close: ['exit'] }) as AsyncIterable<[FromThread]>)
      switch (message.kind) {
        case 'next': {
          const { value } = await pieces.next()
          thread.postMessage(value ?? null, value ? [value.buffer] : [])
          break
        }
        case 'put':
          await put(message.batch)
          thread.postMessage(null)
          break
        case 'failed':
          throw new Failure(message.failure, message.options)
        case 'done':
          return message.answer
      }
    throw new Error('the thread that read a statement ended without an answer')
  } finally {
    await thread.terminate()
  }
}

/** Yields copies, because the pieces are transferred to the thread. */
async function* piecesOf({ open }: StatementFile): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  for await (const bytes of open())
    for (let from = 0; from < bytes.length; from += pieceBytes)
      yield new Uint8Array(bytes.subarray(from, from + pieceBytes))
}

const unwanted: PutBatch = async () => {}
