// Formats a snapshot in the Prometheus text format, version 0.0.4.
import type { FamilySnapshot, Sample, Snapshot } from './registry.ts'

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

export function writeExposition(snapshot: Snapshot): string {
  return snapshot
    .filter(({ samples }) => samples.length > 0)
    .map(writeFamily)
    .join('')
}

function writeFamily(family: FamilySnapshot): string {
  const { name, help, kind } = family
  const lines = family.samples.flatMap((sample) =>
    kind === 'histogram' ? histogramLines(family, sample) : [line(name, sample.labels, sample.value)],
  )
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n${lines.join('\n')}\n`
}

function histogramLines({ name, bounds }: FamilySnapshot, { labels, value, buckets }: Sample): string[] {
  let count = 0
  const lines = buckets.map((inBucket, index) => {
    count += inBucket
    const le = index < bounds.length ? String(bounds[index]) : '+Inf'
    return line(`${name}_bucket`, { ...labels, le }, count)
  })
  return [...lines, line(`${name}_sum`, labels, value), line(`${name}_count`, labels, count)]
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeValue(text)}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
