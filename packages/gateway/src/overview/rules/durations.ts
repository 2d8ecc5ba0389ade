// How long things took, as counts in buckets that grow by a tenth each: small, mergeable over hours and processes, and
// good for a median or a 95th percentile to within a twentieth.

/** How many fell into each bucket, by its number. Bucket 0 holds what took up to a millisecond. */
export type Durations = ReadonlyMap<number, number>

export const growth = 1.1
/** 1.1 to the 256th is far past a year of milliseconds. */
export const lastBucket = 255

export function bucketOf(durationMs: number): number {
  if (!(durationMs > 1)) return 0
  return Math.min(lastBucket, Math.ceil(Math.log(durationMs) / Math.log(growth)))
}

/** The middle of the bucket in which that share of all is reached; undefined when nothing was counted. */
export function percentile(durations: Durations, share: number): number | undefined {
  const all = totalOf(durations)
  if (all === 0) return undefined
  const wanted = Math.max(1, Math.ceil(share * all))
  let seen = 0
  for (const [bucket, count] of [...durations].toSorted(([a], [b]) => a - b)) {
    seen += count
    if (seen >= wanted) return middleOf(bucket)
  }
  return undefined
}

export function mergeDurations(all: readonly Durations[]): Durations {
  const merged = new Map<number, number>()
  for (const durations of all)
    for (const [bucket, count] of durations) merged.set(bucket, (merged.get(bucket) ?? 0) + count)
  return merged
}

export function totalOf(durations: Durations): number {
  let total = 0
  for (const count of durations.values()) total += count
  return total
}

function middleOf(bucket: number): number {
  return bucket === 0 ? 1 : growth ** (bucket - 0.5)
}
