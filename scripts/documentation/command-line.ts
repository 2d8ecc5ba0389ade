// docs/command-line.md: every command in one line, from the commands themselves. Their --help has the options in full.
import type { Command } from 'commander'
import { commandLine } from '../../packages/gateway/src/app/command-line.ts'
import { table } from '../../packages/protocol/documentation/tables.ts'
import { commands } from '../../packages/sdk/src/cli/till.ts'

export function commandLinePage(): string {
  return [
    '# Command line',
    '',
    '`till` is the merchant’s command line, `tillgate` the operator’s. `--help` after a command describes all its options; `--json` prints JSON for programs. Exit codes: 0 success, 1 rejected, 2 wrong use, 69 the gateway or the database cannot be reached.',
    '',
    '## till',
    '',
    'Installed with the [SDK](sdk.md#the-command-line): `npx till`.',
    '',
    table(
      ['Command', 'Description', 'Options'],
      commands.map(({ name, summary, positionals, options }) => [
        `\`till ${[name, ...positionals].join(' ')}\``,
        sentence(summary),
        codes(Object.keys(options).flatMap((option) => (shared.has(option) ? [] : [`--${option}`]))),
      ]),
    ),
    '',
    '## tillgate',
    '',
    'Runs on the gateway’s machine with the gateway’s settings: `npm run tillgate --` in the repository, `tillgate` under [systemd, compose and Kubernetes](operating.md#the-command-line). Actions are written to the audit log; those that change something take `--reason`. Options below are required.',
    '',
    '### tillgate doctor',
    '',
    'Check what a gateway with these settings needs, and print what to do about each problem. Exit code 1 if a check fails.',
    '',
    ...commandLine()
      .commands.filter(({ commands }) => commands.length > 0)
      .flatMap(groupOf),
  ].join('\n')
}

const shared = new Set(['credentials', 'json', 'reason'])

/** With the options that are required. */
function argumentsOf({ registeredArguments, options }: Command): string[] {
  return [
    ...registeredArguments.map((each) => (each.required ? each.name() : `[${each.name()}]`)),
    ...options
      .filter((option) => option.mandatory && !shared.has(option.name()))
      .map(({ long }) => `${long}`),
  ]
}

function groupOf(group: Command): string[] {
  return [
    `### tillgate ${group.name()}`,
    '',
    table(
      ['Command', 'Description'],
      group.commands.map((command) => [
        `\`${[group.name(), command.name(), ...argumentsOf(command)].join(' ')}\``,
        sentence(command.description()),
      ]),
    ),
    '',
  ]
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' ')
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
