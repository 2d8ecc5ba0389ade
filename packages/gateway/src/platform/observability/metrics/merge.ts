// Merges the snapshots of several processes. Counters of ended processes are kept, because a falling sum would look
// like a restart.
import type { FamilySnapshot, Sample, Snapshot } from './registry.ts'

export function mergeSnapshots(snapshots: readonly Snapshot[]): Snapshot {
  const families = new Map<string, { family: FamilySnapshot; samples: Map<string, Sample> }>()
  for (const family of snapshots.flat()) {
    const merged = families.get(family.name) ?? { family, samples: new Map<string, Sample>() }
    families.set(family.name, merged)
    for (const sample of family.samples) {
      const key = JSON.stringify(Object.entries(sample.labels).sort())
      const before = merged.samples.get(key)
      merged.samples.set(key, before ? mergeSamples(before, sample, family.merge) : sample)
    }
  }
  return [...families.values()].map(({ family, samples }) => ({ ...family, samples: [...samples.values()] }))
}

export function countedOnly(snapshot: Snapshot): Snapshot {
  return snapshot.filter(({ kind }) => kind !== 'gauge')
}

function mergeSamples(one: Sample, another: Sample, merge: 'sum' | 'max'): Sample {
  const together = (a: number, b: number) => (merge === 'sum' ? a + b : Math.max(a, b))
  return {
    labels: one.labels,
    value: together(one.value, another.value),
    buckets: one.buckets.map((count, index) => count + (another.buckets[index] ?? 0)),
  }
}
