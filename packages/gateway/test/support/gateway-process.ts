// Another gateway, as far as the embedded PostgreSQL can tell: a process of its own that starts or joins the
// server, says every event as a line of JSON, stops when told to, and can be killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type EmbeddedEvent, startEmbedded } from '../../src/platform/database/embedded/embedded.ts'

export type ProcessEvent =
  | EmbeddedEvent
  | { readonly kind: 'ready'; readonly pid: number }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string }

export interface GatewayProcess {
  readonly events: ProcessEvent[]
  /** The first event of this kind, also when it was told before. */
  event<Kind extends ProcessEvent['kind']>(kind: Kind): Promise<Extract<ProcessEvent, { kind: Kind }>>
  /** A clean stop, as with SIGTERM. */
  stop(): Promise<void>
  /** kill -9. */
  kill(): Promise<void>
}

export function startGatewayProcess(
  dataDir: string,
  options: {
    readonly uid?: number
    readonly script?: string
    readonly node?: string
    readonly env?: Record<string, string>
  } = {},
): GatewayProcess {
  const script = options.script ?? fileURLToPath(import.meta.url)
  const child = spawn(options.node ?? process.execPath, [script, dataDir], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...options.env },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  const ended = once(child, 'exit')
  const events: ProcessEvent[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as ProcessEvent)
    for (const look of waiting) look()
  })
  return {
    events,
    event<Kind extends ProcessEvent['kind']>(kind: Kind) {
      const { promise, resolve, reject } = Promise.withResolvers<Extract<ProcessEvent, { kind: Kind }>>()
      const look = () => {
        // The kind was compared, so the event is the one of that kind.
        const found = events.find((event) => event.kind === kind) as Extract<ProcessEvent, { kind: Kind }>
        if (found !== undefined) resolve(found)
        else if (events.at(-1)?.kind === 'failed') reject(new Error(JSON.stringify(events)))
      }
      waiting.add(look)
      child.stdout.once('close', () => reject(new Error(`ended before "${kind}": ${JSON.stringify(events)}`)))
      look()
      return promise
    },
    async stop() {
      child.stdin.end()
      await ended
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

if (import.meta.main) {
  const say = (event: ProcessEvent) => process.stdout.write(`${JSON.stringify(event)}\n`)
  try {
    const [, , dataDir = ''] = process.argv
    const embedded = await startEmbedded({ dataDir, report: say, settings: { fsync: 'off' } })
    say({ kind: 'ready', pid: (await embedded.postmasterPid()) ?? 0 })
    await once(process.stdin.resume(), 'end')
    await embedded.stop()
  } catch (error) {
    const { name, message } = error as Error
    say({ kind: 'failed', name, message })
  }
}
