// tillgate doctor: checks everything that a gateway with these settings needs, and prints fixes.
import { Command } from 'commander'
import { type OutputOptions, print, type Terminal } from './context.ts'

export interface Finding {
  readonly check: string
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly found: string
  /** The fix. */
  readonly fix?: string
}

export type Examine = () => Promise<readonly Finding[]>

export function doctorCommand(examine: Examine, terminal: Terminal): Command {
  return new Command('doctor')
    .description(
      'check settings, files, disk, ports, DNS, TLS, proxy, mail, database, clock, rails and backups, and print what to do; exit code 1 if a check fails',
    )
    .option('--json', 'Print JSON')
    .action(async (options: OutputOptions) => {
      const findings = await examine()
      print(terminal, options, { value: { findings }, lines: linesOf(findings) })
      if (findings.some(({ outcome }) => outcome === 'failed')) terminal.setExitCode(1)
    })
}

const marks = { ok: '✓', warning: '!', failed: '✗', skipped: '-' } as const

function linesOf(findings: readonly Finding[]): string[] {
  const count = (wanted: Finding['outcome']) => findings.filter(({ outcome }) => outcome === wanted).length
  const width = Math.max(...findings.map(({ check }) => check.length))
  return [
    ...findings.flatMap(({ check, outcome, found, fix }) => [
      `${marks[outcome]} ${check.padEnd(width)}  ${found}`,
      ...(fix === undefined ? [] : [`  ${''.padEnd(width)}  → ${fix}`]),
    ]),
    '',
    `${count('failed')} failed, ${count('warning')} warnings, ${count('ok')} ok, ${count('skipped')} not checked.`,
  ]
}
