// Attackers without manners, on plain sockets: floods of junk, of connections, of requests that are too large. A process
// of their own that has only the processor's idle time, because a real attacker brings a processor of its own.
import { connect, type Socket } from 'node:net'
import { gatewayPath } from '@tillgate/protocol'
import { unfinishedLimits } from '../../packages/gateway/src/finance/links/rules/unfinished-orders.ts'
import type { Place } from './bare-connection.ts'
import { postBytes, sendBytes } from './bare-connection.ts'
import { oversizeForms, unreadChunks } from './oversize.ts'
import type { PageRequests } from './page-requests.ts'
import { smugglingForms } from './smuggling.ts'

export type AttackName = keyof typeof attacks

export interface Attack {
  readonly name: AttackName
  readonly place: Place
  /** The first three bytes of the attackers' addresses: what one kind owes is not held against the next. */
  readonly network: string
  /** Every few seconds they come from elsewhere: who is shut out is no attacker any more. */
  readonly isMoving: boolean
  readonly durationMs: number
  /** Envelopes that nobody can open. */
  readonly junk: readonly string[]
  /** Of kinds that are not about the merchant API: whole requests. */
  readonly requests: readonly string[]
}

/** How often each did its worst. */
export type AttackResult = Record<string, number>

type Act = (attack: Attack, isOver: () => boolean) => Promise<AttackResult>

/** By the names of their requests. */
export const requestsOf: Readonly<Record<string, PageRequests>> = {
  'ordinary pages, 200 addresses': 'pages',
  'forms of many parts, one address': 'manyParts',
  'portal, junk sign-ins, 200 addresses': 'signIns',
  'portal, forged sessions and tokens, 200 addresses': 'forgeries',
  'portal, half-sent forms, 50 addresses': 'halfForm',
  'wallet, junk PINs and codes, 200 addresses': 'pins',
  'orders from a payment link, 200 addresses': 'links',
  'orders from a payment link, one address': 'links',
  'codes of a payment link, 200 addresses': 'codes',
  'notifications of rails, 200 addresses': 'notifications',
  'statements without the right, 20 addresses': 'imports',
  'largest statements, one operator': 'largeImports',
}

/** Statements are sent to the admin listener. */
export const isForOperators = (kind: string): boolean =>
  requestsOf[kind] === 'imports' || requestsOf[kind] === 'largeImports'

/** What one attacker may bring about however often it asks, by what it counts. */
export const mostDone: Readonly<Record<string, AttackResult>> = {
  'orders from a payment link, one address': { orders: unfinishedLimits.most },
}

export const attacks = {
  'junk envelopes, one address': (attack, isOver) => junkFlood(attack, { lines: 64, addresses: 1, isOver }),
  'junk envelopes, 200 addresses': (attack, isOver) =>
    junkFlood(attack, { lines: 200, addresses: 200, isOver }),
  'broken requests, 200 addresses': brokenFlood,
  'junk envelopes, no answer waited for': pipelinedFlood,
  'half-sent bodies, 50 addresses': (attack, isOver) =>
    holdConnections(attack, { most: 12_500, addresses: 50, says: halfSent(attack.place), isOver }),
  'idle connections': (attack, isOver) =>
    holdConnections(attack, { most: 4_000, addresses: 1, says: undefined, isOver }),
  'connections opened and cut': cutConnections,
  'oversized requests': (attack, isOver) => {
    const forms = [
      ...oversizeForms(attack.place, gatewayPath).map(({ bytes }) => bytes),
      ...unreadChunks(gatewayPath),
    ].map((bytes) => Buffer.from(bytes))
    return inParallel(20, isOver, async (turn) => {
      await sendBytes(placeNow(attack), forms[turn % forms.length] ?? '')
    })
  },
  'ordinary pages, 200 addresses': pageFlood(200),
  'forms of many parts, one address': (attack, isOver) => flood(attack, { lines: 64, addresses: 1, isOver }),
  'portal, junk sign-ins, 200 addresses': pageFlood(200),
  'portal, forged sessions and tokens, 200 addresses': pageFlood(200),
  'wallet, junk PINs and codes, 200 addresses': pageFlood(200),
  'orders from a payment link, 200 addresses': pageFlood(200),
  'orders from a payment link, one address': (attack, isOver) =>
    flood(attack, { lines: 64, addresses: 1, isOver }),
  'codes of a payment link, 200 addresses': pageFlood(200),
  'notifications of rails, 200 addresses': pageFlood(200),
  'statements without the right, 20 addresses': pageFlood(20),
  // Its operator imports one after the other, because the gateway reads one at a time.
  'largest statements, one operator': pageFlood(1),
  'portal, half-sent forms, 50 addresses': (attack, isOver) =>
    holdConnections(attack, { most: 12_500, addresses: 50, says: attack.requests[0], isOver }),
  'smuggled requests': (attack, isOver) => {
    // What waits for its line to be closed would only be slow.
    const forms = smugglingForms(attack.place, gatewayPath).filter(({ answers }) => !answers)
    return inParallel(20, isOver, async (turn) => {
      await sendBytes(placeNow(attack), forms[turn % forms.length]?.bytes('GET / HTTP/1.1\r\n\r\n') ?? '')
    })
  },
} as const satisfies Record<string, Act>

/** What is refused before anything is opened: too old, for no such method, no JSON. */
function brokenFlood(attack: Attack, isOver: () => boolean): Promise<AttackResult> {
  const broken = attack.junk.flatMap((text) => {
    const envelope = JSON.parse(text)
    const old = { ...envelope, timestamp: Number(envelope.timestamp) - 3_600_000 }
    return [JSON.stringify(old), JSON.stringify({ ...envelope, method: 'nothing' }), text.slice(1)]
  })
  return junkFlood({ ...attack, junk: broken }, { lines: 200, addresses: 200, isOver })
}

function junkFlood(
  attack: Attack,
  given: { lines: number; addresses: number; isOver: () => boolean },
): Promise<AttackResult> {
  const requests = attack.junk.map((body) => postBytes(attack.place, { path: gatewayPath, body }))
  return flood({ ...attack, requests }, given)
}

function pageFlood(addresses: number): Act {
  return (attack, isOver) => flood(attack, { lines: addresses, addresses, isOver })
}

/** Each line sends its next request when the last is answered. */
async function flood(
  attack: Attack,
  { lines, addresses, isOver }: { lines: number; addresses: number; isOver: () => boolean },
): Promise<AttackResult> {
  const requests = attack.requests.map((request) => Buffer.from(request))
  const counts: AttackResult = {}
  const orders = new Set<string>()
  const speak = (line: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(placeNow(attack, { line, addresses }))
      let sent = Math.floor((line * requests.length) / lines)
      let answerLeft = 0
      const send = () => {
        if (isOver()) socket.destroy()
        else socket.write(requests[sent++ % requests.length] as Buffer)
      }
      socket.on('connect', send)
      socket.on('data', (piece) => {
        if (answerLeft === 0) {
          const head = piece.toString('latin1', 0, 4_096)
          const status = head.slice(9, 12)
          counts[status] = (counts[status] ?? 0) + 1
          const [, order] = /\r\nlocation: (\/checkout\/\S+)/i.exec(head) ?? []
          if (order !== undefined) orders.add(order)
          answerLeft = lengthOfAnswer(head)
        }
        answerLeft = Math.max(0, answerLeft - piece.length)
        if (answerLeft === 0) send()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  const keepSpeaking = async (line: number) => {
    while (!isOver()) await speak(line)
  }
  await Promise.all(Array.from({ length: lines }, (_, line) => keepSpeaking(line)))
  return orders.size > 0 ? { ...counts, orders: orders.size } : counts
}

/** Of its first piece, which has all headers: pages are small enough to say how long they are. */
function lengthOfAnswer(head: string): number {
  const [, length = '0'] = /\r\ncontent-length: (\d+)\r\n/i.exec(head) ?? []
  return head.indexOf('\r\n\r\n') + 4 + Number(length)
}

/** Each line sends envelopes for as long as it is not cut, and is opened again: what it counts was taken by the kernel. */
async function pipelinedFlood(attack: Attack, isOver: () => boolean): Promise<AttackResult> {
  const { place, junk } = attack
  const [lines, addresses, envelopesAtOnce] = [40, 10, 50]
  // All lines together: a hundred thousand envelopes a second, which fill a gigabit.
  const restMs = (lines * envelopesAtOnce * 1_000) / 100_000
  const request = (turn: number) =>
    postBytes(place, { path: gatewayPath, body: junk[turn % junk.length] ?? '' })
  const bytes = Buffer.from(Array.from({ length: envelopesAtOnce }, (_, turn) => request(turn)).join(''))
  const counts = { sent: 0, connections: 0 }
  const speak = (line: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(placeNow(attack, { line, addresses }))
      counts.connections++
      const send = () => {
        if (isOver()) socket.destroy()
        else
          socket.write(bytes, (error) => {
            if (error) return
            counts.sent += envelopesAtOnce
            setTimeout(send, restMs)
          })
      }
      // Where nothing more is read, no write ever ends.
      const look = setInterval(() => isOver() && socket.destroy(), 100)
      socket.on('connect', send)
      socket.resume()
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(look)
        resolve()
      })
    })
  const keepSpeaking = async (line: number) => {
    while (!isOver()) await speak(line)
  }
  await Promise.all(Array.from({ length: lines }, (_, line) => keepSpeaking(line)))
  return counts
}

const movesEveryMs = 3_000
const addressesOfNetwork = 250

/** Which of so many addresses a line has for now. */
function placeNow(
  { place, network, isMoving }: Attack,
  { line, addresses } = { line: 0, addresses: 1 },
): Place {
  const moved = isMoving ? Math.floor(performance.now() / movesEveryMs) * addresses : 0
  const address = (moved + (line % addresses)) % addressesOfNetwork
  return { ...place, localAddress: `${network}.${1 + address}` }
}

/** The headers of an envelope and its first byte. */
function halfSent(place: Place): string {
  return postBytes(place, { path: gatewayPath, headers: ['content-length: 2000'], body: '{' })
}

/** As many as the addresses may have and more, opened again as they are cut. */
async function holdConnections(
  attack: Attack,
  {
    most,
    addresses,
    says,
    isOver,
  }: { most: number; addresses: number; says: string | undefined; isOver: () => boolean },
): Promise<AttackResult> {
  const counts: AttackResult = { opened: 0, cut: 0, most: 0 }
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  let line = 0
  const open = new Set<Socket>()
  const add = () => {
    const socket = connect(placeNow(attack, { line: line++, addresses }))
    open.add(socket)
    socket.on('connect', () => {
      count('opened')
      counts['most'] = Math.max(counts['most'] ?? 0, open.size)
      if (says !== undefined) socket.write(says)
    })
    socket.on('data', (piece) => count(piece.toString('latin1', 9, 12)))
    socket.on('error', () => {})
    socket.on('close', () => {
      count('cut')
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

function cutConnections(attack: Attack, isOver: () => boolean): Promise<AttackResult> {
  return inParallel(
    50,
    isOver,
    () =>
      new Promise((resolve) => {
        const socket = connect(placeNow(attack))
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
  process.once('message', async (attack: Attack) => {
    const until = performance.now() + attack.durationMs
    const result = await attacks[attack.name](attack, () => performance.now() > until)
    process.send?.(result, () => process.exit())
  })
}
