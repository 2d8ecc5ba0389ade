// The commands that CONTRIBUTING.md lists, as a contributor would type them.

export interface ListedCommand {
  readonly line: string
  /** Takes minutes, or installs packages of the system. */
  readonly isLong: boolean
  /** Without the first command, no other one works. */
  readonly isFirst: boolean
  /** The variable that names what is not part of a bare machine. */
  readonly needs: string | undefined
}

export interface Wanted {
  readonly all: boolean
  /** Parts of commands; all others are left out. */
  readonly only: readonly string[] | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
}

const long = ['npm test', 'test:', 'simulate', 'release', 'contributing']
const short = ['test:unit']
const needs: Readonly<Record<string, string>> = { 'test:citus': 'TEST_CITUS_URLS' }

export function commandsOf(page: string): readonly ListedCommand[] {
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
  return block
    .trim()
    .split('\n')
    .map((text) => text.replace(/(^|\s+)#.*$/, '').trim())
    .filter((line) => line !== '' && !line.includes('contributing.ts'))
    .map((line, at) => ({
      line,
      isLong: long.some((part) => line.includes(part)) && !short.some((part) => line.includes(part)),
      isFirst: at === 0,
      needs: Object.entries(needs).find(([part]) => line.includes(part))?.[1],
    }))
}

/** Why a command is not run, or undefined if it is. */
export function skippedFor(
  { line, isFirst, isLong, needs }: ListedCommand,
  { all, only, environment }: Wanted,
): string | undefined {
  if (isFirst) return undefined
  if (only && !only.some((part) => line.includes(part))) return 'not named by --only'
  if (needs !== undefined && !environment[needs]) return `needs ${needs}`
  return isLong && !all && !only ? 'takes minutes: add --all' : undefined
}
