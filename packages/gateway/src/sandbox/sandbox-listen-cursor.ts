// The position of a listener. Callbacks are not committed in the order of their times, so each read covers the last
// minute again, and the cursor contains what was already returned. Nothing is skipped or repeated, and the gateway
// stores nothing about listeners.
import { createHash } from 'node:crypto'
import { Failure, maxListenCursorLength } from '@tillgate/protocol'
import type { HeardCallback } from './store/sandbox-listens.ts'

/** Longer than a transaction can last and than clocks of gateways can differ. */
export const overlapMs = 60_000
/** The maximum of one response. */
export const batch = 20
/**
 * The maximum number of keys in a cursor. Beyond it, a listener waits until the overlap has moved on; callbacks arrive
 * late but are not lost.
 */
export const maxSeen = 2_000
const keyLength = 11

export interface Cursor {
  readonly fromMs: number
  /** The keys of callbacks returned at or after `fromMs`. */
  readonly seen: ReadonlySet<string>
}

export function parseCursor(text: string): Cursor {
  if (!/^\d{13}\.(?:[\w-]{11})*$/.test(text)) {
    throw new Failure('invalid_field', {
      field: 'after',
      message: 'after must be from the last response. Omit it to start again.',
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

export function keyOf({ callbackId, kind, atMs }: HeardCallback): string {
  const what = `${callbackId} ${kind === 'first' ? '' : atMs}`
  return createHash('sha256').update(what).digest('base64url').slice(0, keyLength)
}

/** Enough rows for a full batch of new ones, plus one that shows whether there are more. */
export function rowsToRead({ seen }: Cursor): number {
  return seen.size + batch + 1
}

/** What to return of the rows read from `cursor.fromMs` on, and the next cursor. */
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
  // The times of unread rows are unknown, so their keys are kept while there may be more.
  const unread = isFull ? [...cursor.seen].filter((key) => !read.has(key)) : []
  const known = keyed.filter(({ row, key }) => row.atMs >= fromMs && cursor.seen.has(key))
  const added = given.filter(({ row }) => row.atMs >= fromMs)
  const seen = new Set([...unread, ...known.map(({ key }) => key), ...added.map(({ key }) => key)])
  return { given: given.map(({ row }) => row), next: { fromMs, seen } }
}

/** Keys older than the overlap are dropped, so there is always room. */
function roomWhenSettled(fresh: readonly { readonly row: HeardCallback }[], settledMs: number): number {
  const firstRecent = fresh.findIndex(({ row }) => row.atMs >= settledMs)
  return firstRecent === -1 ? fresh.length : firstRecent
}

/** Starts now: existing rows count as returned. */
export function beginAt(nowMs: number, rows: readonly HeardCallback[]): Cursor {
  return { fromMs: nowMs - overlapMs, seen: new Set(rows.slice(-maxSeen).map(keyOf)) }
}
