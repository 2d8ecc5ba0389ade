// Runs the conformance checks against a rail, one after the other.

import { type Check, railChecks } from './checks.ts'
import { Nonconformance, NotChecked, Probe, type ProbeParts } from './probe.ts'

export interface CheckResult {
  readonly title: string
  readonly protocol: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  /** The violation, or why it was not checked. */
  readonly found?: string
}

export interface ConformanceReport {
  readonly results: readonly CheckResult[]
  readonly slowestAnswerMs: number
}

export interface ConformanceParts extends ProbeParts {
  readonly currencies: readonly string[]
  readonly onResult?: (result: CheckResult) => void
}

export async function checkConformance({
  currencies,
  onResult,
  ...parts
}: ConformanceParts): Promise<ConformanceReport> {
  const probe = new Probe(parts)
  const results: CheckResult[] = []
  for (const check of railChecks(currencies)) {
    const result = await runCheck(check, probe)
    results.push(result)
    onResult?.(result)
  }
  return { results, slowestAnswerMs: Math.round(probe.slowestMs) }
}

async function runCheck({ title, protocol, run }: Check, probe: Probe): Promise<CheckResult> {
  try {
    await run(probe)
    return { title, protocol, outcome: 'passed' }
  } catch (error) {
    if (error instanceof NotChecked) return { title, protocol, outcome: 'skipped', found: error.message }
    if (error instanceof Nonconformance) return { title, protocol, outcome: 'failed', found: error.message }
    throw error
  }
}
