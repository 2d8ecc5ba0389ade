// The commands that CONTRIBUTING.md lists, as a contributor would type them.

export interface ListedCommand {
  readonly line: string
  /** Takes minutes, or installs packages of the system. */
  readonly isLong: boolean
  /** Without the first command, no other one works. */
  readonly isFirst: boolean
}

const long = ['npm test', 'test:', 'simulate', 'release', 'contributing']
const short = ['test:unit']

export function commandsOf(page: string): readonly ListedCommand[] {
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
  return block
    .trim()
    .split('\n')
    .map((text) => text.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.includes('contributing.ts'))
    .map((line, at) => ({
      line,
      isLong: long.some((part) => line.includes(part)) && !short.some((part) => line.includes(part)),
      isFirst: at === 0,
    }))
}
