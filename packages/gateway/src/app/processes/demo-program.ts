// A program that a sandbox runs beside itself, in a process of its own, which knows the gateway by HTTP alone like any
// other. Whatever becomes of it, the gateway goes on.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Log } from '../../platform/runtime/log.ts'

export interface DemoProgram {
  /** Undefined: there is none, or it could not open. Settles soon, one way or the other. */
  readonly url: Promise<string | undefined>
  stop(): Promise<void>
}

export interface DemoProgramParts {
  /** As in "the demo shop has ended". */
  readonly name: string
  /** What to set for another port, or none. */
  readonly portSetting: string
  readonly script: string
  readonly environment: Readonly<Record<string, string>>
  readonly log: Log
}

const opensWithinMs = 15_000
const stopsWithinMs = 2_000

export const noProgram: DemoProgram = { url: Promise.resolve(undefined), stop: async () => {} }

export function startDemoProgram({
  name,
  portSetting,
  script,
  environment,
  log,
}: DemoProgramParts): DemoProgram {
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'], ...environment },
    // It ends when the pipe to its standard input does: also with a gateway that was killed.
    stdio: ['pipe', 'pipe', 'pipe'],
    // In a group of its own, so that a Ctrl-C is the gateway's alone to handle.
    detached: true,
  })
  child.stdin.on('error', () => {})
  let isStopping = false
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lastWords = collectLines(child, { name, log })
  const url = opened(child).then((found) => {
    if (isStopping) return undefined
    if (found === undefined) {
      log.warn(
        { reason: lastWords() || 'it ended without a word' },
        `${name} did not open; ${portSetting} gives it another port, ${portSetting}=off turns it off`,
      )
    }
    return found
  })
  void Promise.all([url, ended]).then(([found]) => {
    if (found !== undefined && !isStopping) log.warn({ reason: lastWords() }, `${name} has ended`)
  })
  return {
    url,
    async stop() {
      isStopping = true
      child.stdin.end()
      const giveUp = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs)
      await ended
      clearTimeout(giveUp)
    },
  }
}

/** What it says on standard error is for whoever looks into the log; the last line tells why it ended. */
function collectLines(child: ChildProcess, { name, log }: { name: string; log: Log }): () => string {
  let last = ''
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      last = line
      log.debug({ reason: line }, `${name} says`)
    })
  }
  return () => last
}

async function opened(child: ChildProcess): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(opensWithinMs)
  const gone = new AbortController()
  for (const event of ['close', 'error'] as const) child.once(event, () => gone.abort())
  if (!child.stdout) return undefined
  const lines = createInterface({ input: child.stdout })
  try {
    const [line] = await once(lines, 'line', { signal: AbortSignal.any([timeout, gone.signal]) })
    return /https?:\S+/.exec(String(line))?.[0]
  } catch {
    child.kill('SIGKILL')
    return undefined
  }
}
