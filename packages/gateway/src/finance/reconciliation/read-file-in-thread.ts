// Reads statements' files in a thread of their own. A file of 16 MiB takes seconds to parse, in which the event loop would
// serve nobody; in a thread it does not matter how long a piece of it takes. Bytes go there, and what is in them comes back
// batch by batch, as fast as it is taken.
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Failure } from '@tillgate/protocol'
import { makeTurns } from '../../platform/runtime/turns.ts'
import type { Inspected, PutBatch, StatementFile, StatementFiles } from './read-file.ts'
import type { FromThread, ThreadTask } from './statement-thread.ts'

/** A second file waits: it would take the processor from payments. */
const threadsAtOnce = 1
/** What the thread gets at once. */
const pieceBytes = 64 * 1024

export function makeReadInThread(): StatementFiles {
  const inTurn = makeTurns(threadsAtOnce)
  return {
    inspect: (file, given) =>
      // Safe: it is what the thread's task answers.
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
    // Node 24 warns of stripTypeScriptTypes, by which it runs this very program.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const pieces = piecesOf(file)
  try {
    // An error of the thread rejects it. Safe: it sends nothing else.
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

/** Copies, which are handed over to the thread. */
async function* piecesOf({ open }: StatementFile): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  for await (const bytes of open())
    for (let from = 0; from < bytes.length; from += pieceBytes)
      yield new Uint8Array(bytes.subarray(from, from + pieceBytes))
}

const unwanted: PutBatch = async () => {}
