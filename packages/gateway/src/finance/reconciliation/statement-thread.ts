// The thread that reads a statement file (read-file-in-thread.ts). It requests one piece at a time and waits until
// each batch is consumed.
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { Failure, type FailureName, type FailureOptions } from '@tillgate/protocol'
import { readHere } from './read-file.ts'
import type { FileBatch, FileGiven } from './rules/statement-file.ts'

export interface ThreadTask {
  readonly kind: 'inspect' | 'batches'
  readonly given: FileGiven
}

export type FromThread =
  /** The response is a piece of the file, or null at its end. */
  | { readonly kind: 'next' }
  | { readonly kind: 'put'; readonly batch: FileBatch }
  | { readonly kind: 'done'; readonly answer: unknown }
  | { readonly kind: 'failed'; readonly failure: FailureName; readonly options: FailureOptions }

// Safe: read-file-in-thread.ts passes nothing else.
const { kind, given } = workerData as ThreadTask

const file = {
  name: '',
  async *open() {
    for (;;) {
      const piece = await ask({ kind: 'next' })
      if (piece === null) return
      yield piece
    }
  },
}

try {
  const answer =
    kind === 'inspect'
      ? await readHere.inspect(file, given)
      : await readHere.batches(file, given, async (batch) => {
          await ask({ kind: 'put', batch })
        })
  post({ kind: 'done', answer })
} catch (error) {
  if (!(error instanceof Failure)) throw error
  const { failure, message, field } = error
  post({ kind: 'failed', failure, options: { message, ...(field !== undefined && { field }) } })
}

async function ask(message: FromThread): Promise<Uint8Array | null> {
  if (!parentPort) throw new Error('this is no thread')
  const answered = once(parentPort, 'message')
  post(message)
  // Safe: the responses have no other form.
  const [answer] = (await answered) as [Uint8Array | null]
  return answer
}

function post(message: FromThread): void {
  parentPort?.postMessage(message)
}
