// Generates the help from the table of commands.
import type { Command } from './command.ts'

export function generalHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return `till: a merchant’s command line for a Tillgate gateway

Usage: till COMMAND [OPTIONS]

${commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Run till COMMAND --help for details.
Exit codes: 0 success, 1 rejected or failed, 2 usage error, 69 gateway not reachable.
`
}

export function commandHelp({ name, summary, positionals, options, examples, choices }: Command): string {
  const rows = Object.entries(options).map(([option, { type, value = option.toUpperCase(), about }]) => [
    `--${option}${type === 'boolean' ? '' : ` ${value}`}`,
    about,
  ])
  const width = Math.max(0, ...rows.map(([flag = '']) => flag.length))
  const lines = rows.map(([flag = '', about]) => `  ${flag.padEnd(width)}  ${about}`)
  return [
    `till ${[name, ...positionals].join(' ')}${rows.length > 0 ? ' [OPTIONS]' : ''}: ${summary}`,
    ...(choices && !positionals[0]?.includes('|')
      ? ['', `${positionals[0]} is one of: ${choices.join(', ')}`]
      : []),
    ...(lines.length > 0 ? ['', ...lines] : []),
    '',
    ...examples.map((example) => `  $ ${example}`),
    '',
  ].join('\n')
}
