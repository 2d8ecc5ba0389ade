// Generates the shell completion from the table of commands.
import { type Command, exitCodes, UsageError } from './command.ts'

export function completionCommand(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'print a shell completion script',
    positionals: ['shell'],
    choices: Object.keys(writers),
    options: {},
    examples: [
      'source <(till completion bash)',
      'till completion fish > ~/.config/fish/completions/till.fish',
    ],
    usesGateway: false,
    async run({ positionals: [shell = ''], terminal }) {
      const write = Object.hasOwn(writers, shell) ? writers[shell as keyof typeof writers] : undefined
      if (!write)
        throw new UsageError(`No completion for ${shell}, only for ${Object.keys(writers).join(', ')}.`)
      terminal.out(write(commands()))
      return exitCodes.done
    },
  }
}

const flags = ({ options }: Command) => ['--help', ...Object.keys(options).map((name) => `--${name}`)]
const takesFile = ['credentials', 'body', 'string-to-sign', 'out']

const writers = {
  bash(commands: readonly Command[]): string {
    const names = commands.map(({ name }) => name).join(' ')
    const cases = commands.map((command) => {
      const values = Object.entries(command.options)
        .filter(([, { choices }]) => choices)
        .map(
          ([name, { choices = [] }]) =>
            `      --${name}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$word")); return ;;`,
        )
      const words = [...flags(command), ...(command.choices ?? [])].join(' ')
      const choices =
        values.length === 0 ? '' : `\n      case "$before" in\n  ${values.join('\n  ')}\n      esac`
      return `    ${command.name})${choices}\n      COMPREPLY=($(compgen -W "${words}" -- "$word")) ;;`
    })
    return `# bash completion of till: source <(till completion bash)
_till() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} help --help --version" -- "$word"))
    return
  fi
  case "$before" in
    ${takesFile.map((name) => `--${name}`).join('|')}) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
}
complete -o default -F _till till
`
  },

  zsh(commands: readonly Command[]): string {
    const names = commands.map(({ name, summary }) => `    '${name}:${zshQuoted(summary)}'`).join('\n')
    const cases = commands.map((command) => {
      const options = Object.entries(command.options).map(([name, { type, value, about, choices }]) => {
        const argument =
          type === 'boolean'
            ? ''
            : `:${value ?? name}:${choices ? `(${choices.join(' ')})` : takesFile.includes(name) ? '_files' : ' '}`
        return `'--${name}[${zshQuoted(about).replace(/[[\]]/g, '\\$&')}]${argument}'`
      })
      const first = command.choices ? [`'1:${command.positionals[0]}:(${command.choices.join(' ')})'`] : []
      return `    ${command.name}) _arguments ${["'--help[show help]'", ...options, ...first].join(' ')} ;;`
    })
    return `#compdef till
_till() {
  local -a commands
  commands=(
${names}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _till till
`
  },

  fish(commands: readonly Command[]): string {
    const lines = commands.flatMap((command) => {
      const inCommand = `complete -c till -n '__fish_seen_subcommand_from ${command.name}'`
      return [
        `complete -c till -n __fish_use_subcommand -f -a ${command.name} -d '${quoted(command.summary)}'`,
        ...Object.entries(command.options).map(([name, { type, about, choices }]) => {
          const value =
            type === 'boolean'
              ? ''
              : choices
                ? ` -x -a '${choices.join(' ')}'`
                : takesFile.includes(name)
                  ? ' -r'
                  : ' -x'
          return `${inCommand} -l ${name}${value} -d '${quoted(about)}'`
        }),
        ...(command.choices ? [`${inCommand} -f -a '${command.choices.join(' ')}'`] : []),
      ]
    })
    return `# fish completion of till\n${lines.join('\n')}\n`
  },
} as const

/** All three shells put the texts in single quotes. */
function quoted(text: string): string {
  return text.replaceAll("'", '’')
}

/** In zsh's lists, a colon separates the name from its description. */
function zshQuoted(text: string): string {
  return quoted(text).replaceAll(':', '\\:')
}
