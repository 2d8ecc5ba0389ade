// docs/command-line.md: the help of every command, as the commands themselves print it.
import type { Command } from 'commander'
import { commandLine } from '../../packages/gateway/src/app/command-line.ts'
import { commandHelp, generalHelp } from '../../packages/sdk/src/cli/help.ts'
import { commands } from '../../packages/sdk/src/cli/till.ts'

/** Commander asks the terminal otherwise, and the page must not depend on whose it was. */
const helpWidth = 100

const notRun = '<!-- not run: what the command prints; the page is compared with the commands -->'

export function commandLinePage(): string {
  return [
    '# Command line',
    '',
    'Two programs: `till` is the merchant’s, `tillgate` the operator’s. This page is made from the commands themselves (`node scripts/documentation.ts`).',
    '',
    '## till',
    '',
    'Comes with the SDK ([how it finds its credentials](sdk.md#the-command-line)). In the repository of the gateway it is `npx till`.',
    '',
    block(generalHelp(commands)),
    ...commands.flatMap((command) => [`### till ${command.name}`, '', block(commandHelp(command))]),
    '## tillgate',
    '',
    'In the repository of the gateway it is `npm run tillgate --`, with the settings of `npm start`; under systemd, compose and Kubernetes it is `tillgate` as [operating](operating.md#the-command-line) says. Every act is recorded in the audit log with who did it and why.',
    '',
    block(helpOf(commandLine())),
    ...commandLine().commands.flatMap(sectionsOf),
  ].join('\n')
}

function sectionsOf(command: Command): string[] {
  return [
    `### ${nameOf(command)}`,
    '',
    block(helpOf(command)),
    ...command.commands.map((inner) => block(helpOf(inner))),
  ]
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
}

function helpOf(command: Command): string {
  return command.configureOutput({ getOutHelpWidth: () => helpWidth }).helpInformation()
}

function block(text: string): string {
  return `${notRun}\n\`\`\`text\n${text.trim()}\n\`\`\`\n`
}
