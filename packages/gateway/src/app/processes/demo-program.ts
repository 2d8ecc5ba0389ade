// A program that a sandbox runs in a separate process and that knows the gateway only by HTTP. Its failure does not
// affect the gateway.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Log } from '../../platform/runtime/log.ts'

export interface DemoProgram {
  /** Undefined if there is none, or it could not open. Always settles soon. */
  readonly url: Promise<string | undefined>
  stop(): Promise<void>
}

export interface DemoProgramParts {
  /** As in "the demo shop has ended". */
  readonly name: string
  /** The setting for another port, or none. */
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
    // The program ends when the pipe to its standard input closes, also if the gateway is killed.
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that only the gateway handles Ctrl-C.
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
        { reason: lastWords() || 'it ended without output' },
        `${name} did not open; ${portSetting} sets another port, ${portSetting}=off turns it off`,
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

/** Standard error goes to the log; its last line is the reason for an exit. */
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
