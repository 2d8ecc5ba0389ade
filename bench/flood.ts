// A generator that does not wait for answers before it sends more: so many requests a second whatever happens, over as
// many connections as that takes, up to a bound. A process of its own, on plain sockets, because it must not be what
// is slow. Told by a message what to send, it answers with what came back.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { quantile } from './figures.ts'

export interface FloodOrder {
  readonly port: number
  readonly perSecond: number
  readonly durationMs: number
  readonly connections: number
  readonly bodies: readonly string[]
}

export interface FloodResult {
  readonly sent: number
  /** Due, but every connection was busy. */
  readonly held: number
  readonly good: number
  readonly refused: number
  readonly other: number
  readonly refusedP99Ms: number
  readonly goodP50Ms: number
  readonly tookMs: number
  readonly cpuMs: number
}

const tickMs = 5

export async function flood(order: FloodOrder): Promise<FloodResult> {
  const requests = order.bodies.map((body) =>
    Buffer.from(
      `POST /api/v1/gateway HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    ),
  )
  const times = { good: [] as number[], refused: [] as number[] }
  let [sent, held, other, next] = [0, 0, 0, 0]
  const free: Line[] = []
  const lines: Line[] = []
  for (let index = 0; index < order.connections; index++) {
    const line = new Line(order.port, (httpStatus, tookMs) => {
      if (httpStatus === 200) times.good.push(tookMs)
      else if (httpStatus === 503 || httpStatus === 429) times.refused.push(tookMs)
      else other++
      free.push(line)
    })
    lines.push(line)
    free.push(line)
  }
  await Promise.all(lines.map((line) => line.open()))
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  for (let due = 0; performance.now() - began < order.durationMs; ) {
    const shouldBe = ((performance.now() - began) * order.perSecond) / 1_000
    for (; due < shouldBe; due++) {
      const line = free.pop()
      if (!line) held++
      else if (line.send(requests[next++ % requests.length] as Buffer)) sent++
      else other++
    }
    await pause(tickMs)
  }
  const tookMs = performance.now() - began
  const { user, system } = process.cpuUsage(cpuBefore)
  for (const line of lines) line.close()
  return {
    sent,
    held,
    good: times.good.length,
    refused: times.refused.length,
    other,
    refusedP99Ms: quantile(times.refused, 0.99),
    goodP50Ms: quantile(times.good, 0.5),
    tookMs,
    cpuMs: (user + system) / 1_000,
  }
}

/** One connection with one request on it at a time. */
class Line {
  readonly #port: number
  readonly #onAnswer: (httpStatus: number, tookMs: number) => void
  #socket: Socket | undefined
  #sentAt = 0

  constructor(port: number, onAnswer: (httpStatus: number, tookMs: number) => void) {
    this.#port = port
    this.#onAnswer = onAnswer
  }

  async open(): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1')
    socket.setNoDelay(true)
    socket.on('error', () => {})
    // Our answers are small: the first piece has the status, and no second one follows.
    socket.on('data', (piece: Buffer) => {
      if (piece.length > 12 && piece.toString('latin1', 0, 5) === 'HTTP/')
        this.#onAnswer(Number(piece.toString('latin1', 9, 12)), performance.now() - this.#sentAt)
    })
    this.#socket = socket
    await once(socket, 'connect')
  }

  send(request: Buffer): boolean {
    if (!this.#socket?.writable) return false
    this.#sentAt = performance.now()
    this.#socket.write(request)
    return true
  }

  close(): void {
    this.#socket?.destroy()
  }
}

if (process.send && process.argv[1] === import.meta.filename) {
  process.once('message', async (order: FloodOrder) => {
    process.send?.(await flood(order), () => process.exit())
  })
}
