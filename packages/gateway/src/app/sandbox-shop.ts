// The demo shop beside a sandbox: a merchant's program in a process of its own, which knows the gateway by HTTP alone
// like any other. Whatever becomes of it, the gateway goes on.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Log } from '../platform/log.ts'
import type { Config } from '../settings/config.ts'
import { sandboxFilePath } from './sandbox-file.ts'

export interface SandboxShop {
  /** Undefined: there is none, or it could not open. Settles soon, one way or the other. */
  readonly url: Promise<string | undefined>
  stop(): Promise<void>
}

const script = join(import.meta.dirname, '../../../../examples/shop/main.ts')
const opensWithinMs = 15_000
const stopsWithinMs = 2_000

export function startSandboxShop(
  config: Config,
  { publicUrl, log }: { publicUrl: string; log: Log },
): SandboxShop {
  const { mode, shopPort: port, dataDir } = config
  if (mode !== 'sandbox' || port === undefined || !config.roles.includes('api')) return noShop
  const credentials = sandboxFilePath(dataDir)
  if (!existsSync(script) || !existsSync(credentials)) {
    log.warn({ reason: `${existsSync(script) ? credentials : script} is missing` }, 'there is no demo shop')
    return noShop
  }
  const { hostname } = new URL(publicUrl)
  const child = spawn(process.execPath, [script], {
    env: {
      PATH: process.env['PATH'],
      TILLGATE_CREDENTIALS: credentials,
      SHOP_PORT: String(port),
      SHOP_HOST: config.publicListener.host,
      SHOP_URL: `http://${hostname}:${port}`,
      SHOP_CALLBACK_URL: `http://${callbackHost(config.publicListener.host)}:${port}/callbacks`,
      SHOP_BESIDE_GATEWAY: '1',
    },
    // It ends when the pipe to its standard input does: also with a gateway that was killed.
    stdio: ['pipe', 'pipe', 'pipe'],
    // In a group of its own, so that a Ctrl-C is the gateway's alone to handle.
    detached: true,
  })
  child.stdin.on('error', () => {})
  let isStopping = false
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lastWords = collectLines(child, log)
  const url = opened(child).then((found) => {
    if (isStopping) return undefined
    if (found === undefined) {
      log.warn(
        { reason: lastWords() || 'it ended without a word' },
        'the demo shop did not open; SHOP_PORT gives it another port, SHOP_PORT=off turns it off',
      )
    }
    return found
  })
  void Promise.all([url, ended]).then(([found]) => {
    if (found !== undefined && !isStopping) log.warn({ reason: lastWords() }, 'the demo shop has ended')
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

const noShop: SandboxShop = { url: Promise.resolve(undefined), stop: async () => {} }

/** Where the gateway finds what is bound to this host. */
function callbackHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** What it says on standard error is for whoever looks into the log; the last line tells why it ended. */
function collectLines(child: ChildProcess, log: Log): () => string {
  let last = ''
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      last = line
      log.debug({ reason: line }, 'the demo shop says')
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
