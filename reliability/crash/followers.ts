// Two who follow the gateway that is killed, and never die themselves: an endpoint that verifies Standard Webhooks, and a
// reader of the feed of events who keeps its position and asks again whenever it got no answer.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { verifyWebhook } from '@tillgate/protocol'
import type { FeedEvent } from '../../packages/gateway/src/core/callbacks/events/rules/event.ts'
import { commandScript } from '../../packages/gateway/test/support/process.ts'
import type { FeedRecord } from '../simulation/invariants/feed.ts'

export class Followers implements FeedRecord {
  readonly events: FeedEvent[] = []
  /** How often each callback arrived at the endpoint, by its id. */
  readonly arrivals = new Map<string, number>()
  readonly refused: string[] = []
  readonly #server: Server
  #secret = ''
  #isOver = false
  #reading: Promise<void> = Promise.resolve()

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      // A gateway that is killed in the middle of a callback has not told us anything.
      try {
        for await (const chunk of request) chunks.push(chunk)
      } catch {
        return
      }
      const secrets = [this.#secret]
      const verdict = verifyWebhook(request.headers, Buffer.concat(chunks), { secrets, nowMs: Date.now() })
      const id = String(request.headers['webhook-id'])
      if (verdict === 'genuine') this.arrivals.set(id, (this.arrivals.get(id) ?? 0) + 1)
      else this.refused.push(verdict)
      response.writeHead(verdict === 'genuine' ? 204 : 401).end()
    })
  }

  /** Of a gateway that is ready and keeps a feed. */
  static async open(given: {
    environment: Readonly<Record<string, string>>
    merchantId: string
    adminUrl: string
  }): Promise<Followers> {
    const { environment, merchantId, adminUrl } = given
    const made = new Followers()
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server, 'listening')
    // Safe: it listens on TCP.
    const { port } = made.#server.address() as AddressInfo
    const run = async (...args: string[]): Promise<Record<string, string>> => {
      const { stdout } = await promisify(execFile)(process.execPath, [commandScript, ...args, '--json'], {
        cwd: tmpdir(),
        env: { PATH: process.env['PATH'], ...environment },
      })
      // Safe: it is what the command prints.
      return JSON.parse(stdout) as Record<string, string>
    }
    const url = `http://127.0.0.1:${port}/events`
    const endpoint = ['endpoint', 'add', merchantId, url, '--format', 'standard', '--reason', 'kill cycles']
    made.#secret = (await run(...endpoint))['secret'] ?? ''
    const asAdmin = ['--operator', 'admin', '--scopes', 'events:read', '--days', '1']
    const { token = '' } = await run('token', 'add', 'kill-cycles', ...asAdmin)
    made.#reading = made.#follow(adminUrl, token)
    return made
  }

  /** When nothing more will happen: reads to the end. */
  async endReading(): Promise<void> {
    this.#isOver = true
    await this.#reading
  }

  close(): void {
    this.#isOver = true
    this.#server.close().closeAllConnections()
  }

  async #follow(adminUrl: string, token: string): Promise<void> {
    for (;;) {
      const wasOver = this.#isOver
      const after = this.events.at(-1)?.position ?? 0
      const query = `after=${after}&limit=20&waitSeconds=${wasOver ? 0 : 1}`
      const found = await fetch(`${adminUrl}/api/admin/v1/events?${query}`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(5_000),
      })
        .then(async (response) => (response.status === 200 ? response.json() : undefined))
        .catch(() => undefined)
      // Safe: the route answers by its schema.
      const events = (found as { data: { events: (FeedEvent & { data: object })[] } } | undefined)?.data
        .events
      if (events === undefined) await pause(100)
      else this.events.push(...events.map(({ data, ...event }) => ({ ...event, body: JSON.stringify(data) })))
      if (wasOver && events?.length === 0) return
    }
  }
}
