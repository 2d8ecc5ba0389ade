// How far a listener has come. Callbacks are not committed in the order of their times, so the last minute is read
// again at every look, and what was given out already is known by the cursor itself: nothing is skipped, nothing
// comes twice, and the gateway keeps nothing about who listens.
import { createHash } from 'node:crypto'
import { Failure, maxListenCursorLength } from '@tillgate/protocol'
import type { HeardCallback } from './store/sandbox-listens.ts'

/** Longer than a transaction can take, and clocks of gateways can differ. */
export const overlapMs = 60_000
/** What one answer holds at most. */
export const batch = 20
/** How many the cursor can know. Past it a listener waits until the overlap has moved on: late, never lost. */
export const maxSeen = 2_000
const keyLength = 11

export interface Cursor {
  readonly fromMs: number
  /** The keys of what was given out at or after `fromMs`. */
  readonly seen: ReadonlySet<string>
}

export function parseCursor(text: string): Cursor {
  if (!/^\d{13}\.(?:[\w-]{11})*$/.test(text)) {
    throw new Failure('invalid_field', {
      field: 'after',
      message: 'after must be what the last answer held; leave it out to begin anew.',
    })
  }
  const keys = text.slice(14).match(/.{11}/g) ?? []
  return { fromMs: Number(text.slice(0, 13)), seen: new Set(keys) }
}

export function writeCursor({ fromMs, seen }: Cursor): string {
  const text = `${fromMs}.${[...seen].join('')}`
  if (text.length > maxListenCursorLength) throw new Error('a cursor knows too much')
  return text
}

/** Of one callback and one asking. */
export function keyOf({ callbackId, kind, atMs }: HeardCallback): string {
  const what = `${callbackId} ${kind === 'first' ? '' : atMs}`
  return createHash('sha256').update(what).digest('base64url').slice(0, keyLength)
}

/** How many rows to read so that a whole batch of new ones is among them, and one more that says there are more. */
export function rowsToRead({ seen }: Cursor): number {
  return seen.size + batch + 1
}

/** What to give out of the rows that were read from `cursor.fromMs` on, and where the next look begins. */
export function moveOn(
  cursor: Cursor,
  { rows, nowMs }: { rows: readonly HeardCallback[]; nowMs: number },
): { given: readonly HeardCallback[]; next: Cursor } {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }))
  const fresh = keyed.filter(({ key }) => !cursor.seen.has(key))
  const settledMs = nowMs - overlapMs
  const isFull = rows.length >= rowsToRead(cursor)
  const room = maxSeen - cursor.seen.size
  const given = fresh.slice(0, Math.min(batch, Math.max(room, roomWhenSettled(fresh, settledMs))))
  const lastMs = given.at(-1)?.row.atMs ?? cursor.fromMs
  const isMore = isFull || given.length < fresh.length
  const fromMs = Math.max(cursor.fromMs, isMore ? Math.min(settledMs, lastMs) : settledMs)
  const read = new Set(keyed.map(({ key }) => key))
  // Of what was not read the times are not known: it is kept in mind while there may be more of it.
  const unread = isFull ? [...cursor.seen].filter((key) => !read.has(key)) : []
  const known = keyed.filter(({ row, key }) => row.atMs >= fromMs && cursor.seen.has(key))
  const added = given.filter(({ row }) => row.atMs >= fromMs)
  const seen = new Set([...unread, ...known.map(({ key }) => key), ...added.map(({ key }) => key)])
  return { given: given.map(({ row }) => row), next: { fromMs, seen } }
}

/** What is older than the overlap need not be kept in mind, so there is always room for it. */
function roomWhenSettled(fresh: readonly { readonly row: HeardCallback }[], settledMs: number): number {
  const firstRecent = fresh.findIndex(({ row }) => row.atMs >= settledMs)
  return firstRecent === -1 ? fresh.length : firstRecent
}

/** From now on: what is there already counts as given out. */
export function beginAt(nowMs: number, rows: readonly HeardCallback[]): Cursor {
  return { fromMs: nowMs - overlapMs, seen: new Set(rows.slice(-maxSeen).map(keyOf)) }
}
