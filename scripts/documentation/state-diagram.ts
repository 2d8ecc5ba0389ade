// The life of an order and of a refund, drawn from the tables that the gateway decides by: each status is a box, each
// allowed move an arrow, and under a status stands the event that reports it.
import { eventOfStatus } from '../../packages/protocol/src/events.ts'
import {
  nextOrderStatuses,
  nextRefundStatuses,
  type OrderStatus,
  type RefundStatus,
} from '../../packages/protocol/src/statuses.ts'
import { arrow, box, drawing, text } from './svg.ts'

type Status = OrderStatus | RefundStatus
type Moves = Readonly<Record<string, readonly string[]>>

const size = { width: 176, height: 56, column: 248, row: 88, margin: 16 } as const

export function orderStates(): string {
  return stateDiagram({
    title: 'The statuses of a payment order',
    moves: nextOrderStatuses,
    first: 'pending',
  })
}

export function refundStates(): string {
  return stateDiagram({ title: 'The statuses of a refund', moves: nextRefundStatuses, first: 'refunding' })
}

function stateDiagram({ title, moves, first }: { title: string; moves: Moves; first: Status }): string {
  const places = placesOf(moves, first)
  const columns = Math.max(...[...places.values()].map(({ column }) => column)) + 1
  const rows = Math.max(...[...places.values()].map(({ row }) => row)) + 1
  const corner = (status: string) => {
    const { column, row } = places.get(status) ?? { column: 0, row: 0 }
    return { x: size.margin + column * size.column, y: size.margin + row * size.row }
  }
  const arrows = Object.entries(moves).flatMap(([from, next]) =>
    next.map((to) => {
      const [start, end] = [corner(from), corner(to)]
      const [startY, endY] = [start.y + size.height / 2, end.y + size.height / 2]
      const bendX = start.x + size.width + 24
      return arrow(
        { x: start.x + size.width, y: startY },
        { x: bendX, y: startY },
        { x: bendX, y: endY },
        { x: end.x, y: endY },
      )
    }),
  )
  const boxes = [...places.keys()].flatMap((status) => {
    const at = corner(status)
    const middle = at.x + size.width / 2
    return [
      box({ ...at, width: size.width, height: size.height }, toneOf(status, moves)),
      text({ x: middle, y: at.y + 24 }, status, 'code strong middle'),
      text({ x: middle, y: at.y + 43 }, eventOfStatus(status as Status) ?? 'no event', 'quiet middle'),
    ]
  })
  return drawing({
    title,
    width: 2 * size.margin + (columns - 1) * size.column + size.width,
    height: 2 * size.margin + (rows - 1) * size.row + size.height,
    parts: [...arrows, ...boxes],
  })
}

/** A status stands one column to the right of where it comes from, and each move that branches takes a row of its own. */
function placesOf(moves: Moves, first: string): Map<string, { column: number; row: number }> {
  const places = new Map<string, { column: number; row: number }>()
  let rows = 0
  const place = (status: string, column: number): void => {
    if (places.has(status)) return
    places.set(status, { column, row: rows })
    for (const [index, next] of (moves[status] ?? []).entries()) {
      if (index > 0 && !places.has(next)) rows += 1
      place(next, column + 1)
    }
  }
  place(first, 0)
  return places
}

function toneOf(status: string, moves: Moves): string {
  if ((moves[status] ?? []).length > 0) return ''
  return status.endsWith('success') ? 'good' : status.endsWith('failed') ? 'bad' : 'wait'
}
