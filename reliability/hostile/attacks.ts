// Attackers without manners, on plain sockets: floods of junk, of connections, of requests that are too large. A process
// of their own with the lowest priority, because a real attacker does not use the gateway's processor.
import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { gatewayPath } from '@tillgate/protocol'
import type { Place } from './bare-connection.ts'
import { postBytes, sendBytes } from './bare-connection.ts'
import { oversizeForms } from './oversize.ts'
import { smugglingForms } from './smuggling.ts'

export type AttackName = keyof typeof attacks

export interface Attack {
  readonly name: AttackName
  readonly place: Place
  readonly durationMs: number
  /** Envelopes that nobody can open. */
  readonly junk: readonly string[]
}

/** How often each did its worst. */
export type AttackResult = Record<string, number>

type Act = (attack: Attack, isOver: () => boolean) => Promise<AttackResult>

export const attacks = {
  'junk envelopes, one address': (attack, isOver) => junkFlood(attack, { lines: 64, addresses: 1, isOver }),
  'junk envelopes, 200 addresses': (attack, isOver) =>
    junkFlood(attack, { lines: 200, addresses: 200, isOver }),
  'idle connections': holdConnections,
  'connections opened and cut': cutConnections,
  'oversized requests': ({ place }, isOver) =>
    inParallel(20, isOver, async (turn) => {
      const forms = oversizeForms(place, gatewayPath)
      await sendBytes(place, forms[turn % forms.length]?.bytes ?? '')
    }),
  'smuggled requests': ({ place }, isOver) => {
    // What waits for its line to be closed would only be slow.
    const forms = smugglingForms(place, gatewayPath).filter(({ answers }) => !answers)
    return inParallel(20, isOver, async (turn) => {
      await sendBytes(place, forms[turn % forms.length]?.bytes('GET / HTTP/1.1\r\n\r\n') ?? '')
    })
  },
} as const satisfies Record<string, Act>

/** Each line sends its next envelope when the last is answered. */
async function junkFlood(
  { place, junk }: Attack,
  { lines, addresses, isOver }: { lines: number; addresses: number; isOver: () => boolean },
): Promise<AttackResult> {
  const requests = junk.map((body) => Buffer.from(postBytes(place, { path: gatewayPath, body })))
  const counts: AttackResult = {}
  const speak = (line: number) =>
    new Promise<void>((resolve) => {
      const socket = connect({ ...place, localAddress: `127.0.2.${1 + (line % addresses)}` })
      let sent = line
      const send = () => {
        if (isOver()) socket.destroy()
        else socket.write(requests[sent++ % requests.length] as Buffer)
      }
      socket.on('connect', send)
      socket.on('data', (piece) => {
        const status = piece.toString('latin1', 9, 12)
        counts[status] = (counts[status] ?? 0) + 1
        send()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  const keepSpeaking = async (line: number) => {
    while (!isOver()) await speak(line)
  }
  await Promise.all(Array.from({ length: lines }, (_, line) => keepSpeaking(line)))
  return counts
}

/** As many as an address may have and more, opened again as they are cut. */
async function holdConnections({ place }: Attack, isOver: () => boolean): Promise<AttackResult> {
  const most = 4_000
  const counts = { opened: 0, cut: 0, most: 0 }
  const open = new Set<Socket>()
  const add = () => {
    const socket = connect({ ...place, localAddress: '127.0.2.1' })
    open.add(socket)
    socket.on('connect', () => {
      counts.opened++
      counts.most = Math.max(counts.most, open.size)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      counts.cut++
      open.delete(socket)
    })
  }
  while (!isOver()) {
    for (let added = 0; added < 100 && open.size < most; added++) add()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const socket of open) socket.destroy()
  return counts
}

function cutConnections({ place }: Attack, isOver: () => boolean): Promise<AttackResult> {
  return inParallel(
    50,
    isOver,
    () =>
      new Promise((resolve) => {
        const socket = connect({ ...place, localAddress: '127.0.2.1' })
        socket.on('connect', () => socket.resetAndDestroy())
        socket.on('error', () => {})
        socket.on('close', () => resolve())
      }),
  )
}

async function inParallel(
  lines: number,
  isOver: () => boolean,
  act: (turn: number) => Promise<void>,
): Promise<AttackResult> {
  let done = 0
  const work = async () => {
    while (!isOver()) await act(done++)
  }
  await Promise.all(Array.from({ length: lines }, work))
  return { done }
}

if (process.send && process.argv[1] === import.meta.filename) {
  setPriority(constants.priority.PRIORITY_LOW)
  process.once('message', async (attack: Attack) => {
    const until = performance.now() + attack.durationMs
    const result = await attacks[attack.name](attack, () => performance.now() > until)
    process.send?.(result, () => process.exit())
  })
}
