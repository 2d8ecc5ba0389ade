// What travels between the merchant's platform, the gateway and the consumer, as lines in the order of time. Names of
// methods, events and statuses come from the code: one that is renamed breaks the types here.

import { retryOffsetsMs } from '../../packages/gateway/src/core/callbacks/rules/retry-schedule.ts'
import { type EventName, eventOfStatus } from '../../packages/protocol/src/events.ts'
import type { TradeMethod } from '../../packages/protocol/src/methods.ts'
import type { RailMessageType } from '../../packages/protocol/src/rail/messages.ts'
import type { RailNotification } from '../../packages/protocol/src/rail/notifications.ts'
import { arrow, box, drawing, line, text } from './svg.ts'

interface Message {
  readonly from: string
  readonly to: string
  readonly words: string
  readonly quiet?: string
}

const size = { lane: 272, width: 176, row: 56, top: 88, margin: 16 } as const

export function paymentSequence(): string {
  const [shop, gateway, consumer] = ['Merchant’s platform', 'Tillgate', 'Consumer'] as const
  const create: TradeMethod = 'service.trade.create'
  const query: TradeMethod = 'service.trade.query'
  return sequence(
    'A payment, from create to callback',
    [shop, gateway, consumer],
    [
      { from: shop, to: gateway, words: create, quiet: 'signed, encrypted' },
      { from: gateway, to: shop, words: 'paymentId, checkoutUrl', quiet: 'status pending' },
      { from: shop, to: consumer, words: 'redirect to checkoutUrl' },
      { from: consumer, to: gateway, words: 'pays from a wallet', quiet: 'the money is held' },
      { from: gateway, to: shop, words: event('confirming') },
      { from: gateway, to: shop, words: event('success'), quiet: 'the money is the merchant’s' },
      { from: shop, to: gateway, words: 'HTTP 200 {"code":20000,"msg":""}' },
      { from: gateway, to: consumer, words: 'back to redirectUrl', quiet: 'for display alone' },
      { from: shop, to: gateway, words: query, quiet: 'whenever in doubt' },
    ],
  )
}

export function callbackSequence(): string {
  const [listener, gateway, database] = ['Your listener', 'Tillgate', 'PostgreSQL'] as const
  const [second = 0, third = 0] = retryOffsetsMs
  return sequence(
    'A callback that needs more than one attempt',
    [listener, gateway, database],
    [
      { from: gateway, to: database, words: 'status + money + callback', quiet: 'one transaction' },
      { from: gateway, to: listener, words: event('success'), quiet: 'first attempt, at once' },
      { from: listener, to: gateway, words: 'no answer within 15 s', quiet: 'or anything but HTTP 200' },
      { from: gateway, to: database, words: 'attempt recorded, next one due' },
      { from: gateway, to: listener, words: 'the same id, a new signature', quiet: `after ${spell(second)}` },
      { from: listener, to: gateway, words: 'HTTP 500' },
      { from: gateway, to: listener, words: 'the same id once more', quiet: `after ${spell(third)}` },
      {
        from: listener,
        to: gateway,
        words: 'HTTP 200 {"code":20000,"msg":""}',
        quiet: 'verified, handled once',
      },
      { from: gateway, to: database, words: 'delivered' },
    ],
  )
}

export function railSequence(): string {
  const [consumer, gateway, rail] = ['Consumer', 'Tillgate', 'Rail'] as const
  const start: RailMessageType = 'payment.start'
  const status: RailMessageType = 'payment.status'
  const changed: RailNotification['type'] = 'payment.changed'
  return sequence(
    'A payment over a rail that asks the consumer on a page of its own',
    [consumer, gateway, rail],
    [
      { from: consumer, to: gateway, words: 'chooses the rail at the checkout' },
      { from: gateway, to: rail, words: start, quiet: 'signed; safe to repeat by its id' },
      { from: rail, to: gateway, words: 'pending, nextAction redirect' },
      { from: gateway, to: consumer, words: 'redirect to the rail’s page' },
      { from: consumer, to: rail, words: 'pays there' },
      { from: rail, to: gateway, words: changed, quiet: 'signed; it only wakes' },
      { from: gateway, to: rail, words: status },
      { from: rail, to: gateway, words: 'approved, reference', quiet: 'this is what counts' },
      { from: rail, to: consumer, words: 'back to returnUrl', quiet: 'whatever became of it' },
    ],
  )
}

function event(status: 'confirming' | 'success'): EventName {
  const name = eventOfStatus(status)
  if (name === undefined) throw new Error(`${status} has no event`)
  return name
}

function spell(durationMs: number): string {
  const minutes = durationMs / 60_000
  return minutes < 1 ? `${durationMs / 1_000} s` : `${minutes} min`
}

function sequence(title: string, lanes: readonly string[], messages: readonly Message[]): string {
  const height = size.top + messages.length * size.row + size.margin
  const middleOf = (lane: string) => size.margin + size.width / 2 + lanes.indexOf(lane) * size.lane
  const heads = lanes.flatMap((lane) => {
    const x = middleOf(lane)
    return [
      line({ x, y: size.margin + 40 }, { x, y: height - size.margin }, 'life'),
      box({ x: x - size.width / 2, y: size.margin, width: size.width, height: 40 }),
      text({ x, y: size.margin + 25 }, lane, 'strong middle'),
    ]
  })
  const rows = messages.flatMap(({ from, to, words, quiet }, index) => {
    const y = size.top + index * size.row + 16
    const [start, end] = [middleOf(from), middleOf(to)]
    const sign = Math.sign(end - start)
    // Words stand over the lane next to the sender, also where the line goes on to the one after it.
    const x = start + (sign * size.lane) / 2
    return [
      arrow({ x: start + sign * 4, y }, { x: end - sign * 4, y }),
      text({ x, y: y - 8 }, words, `middle${/^[a-z.]+\.[a-z.]+$/.test(words) ? ' code' : ''}`),
      ...(quiet === undefined ? [] : [text({ x, y: y + 17 }, quiet, 'quiet middle')]),
    ]
  })
  const width = 2 * size.margin + (lanes.length - 1) * size.lane + size.width
  return drawing({ title, width, height, parts: [...heads, ...rows] })
}
