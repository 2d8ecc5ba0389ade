// How unevenly merchants of very different size load the workers of a cluster, and what it brings to give the largest
// of them shards of their own. Shards are equal ranges of a hash and placed in turn, as Citus does.

export interface Cluster {
  readonly merchants: number
  /** Volume falls with the rank of a merchant to this power (Zipf). */
  readonly exponent: number
  readonly shards: number
  readonly workers: number
  /** So many of the largest merchants have a shard of their own, on the worker that has least. */
  readonly isolated: number
}

/** The fullest worker's load beside the mean: the median of so many placements. */
export function skewOf(cluster: Cluster, placements = 101): number {
  const skews = Array.from(
    { length: placements },
    (_, seed) => Math.max(...loads(cluster, seed)) * cluster.workers,
  )
  return skews.toSorted((a, b) => a - b)[Math.floor(placements / 2)] ?? Number.NaN
}

/** Shares of all volume, by worker. */
export function loads({ merchants, exponent, shards, workers, isolated }: Cluster, seed: number): number[] {
  const volumes = Array.from({ length: merchants }, (_, rank) => (rank + 1) ** -exponent)
  const total = volumes.reduce((sum, volume) => sum + volume, 0)
  const load = Array.from({ length: workers }, () => 0)
  const add = (worker: number, volume: number) => {
    load[worker] = (load[worker] ?? 0) + volume / total
  }
  volumes.slice(isolated).forEach((volume, at) => {
    const shard = Math.floor((hash32(isolated + at, seed) / 2 ** 32) * shards)
    add(shard % workers, volume)
  })
  for (const volume of volumes.slice(0, isolated)) add(load.indexOf(Math.min(...load)), volume)
  return load
}

/** Stands for the hash of a merchant's id: MurmurHash3's last steps. */
function hash32(id: number, seed: number): number {
  let bits = Math.imul(id + 1, 0x9e3779b1) ^ Math.imul(seed + 1, 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
