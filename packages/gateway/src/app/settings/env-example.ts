// Writes `.env.example` from the table of settings: `node packages/gateway/src/app/settings/env-example.ts >
// .env.example`.
import { settings } from './settings.ts'

const width = 100

export function envExample(): string {
  const blocks = Object.entries(settings).map(([name, { about, fallback, example }]) =>
    [...wrap(about), fallback === '' ? `# example: ${name}=${example}` : `# ${name}=${fallback}`].join('\n'),
  )
  return [
    '# Copy this file to .env and uncomment what you want to change. Without changes, a sandbox starts.',
    '# A value without the word "example" is the default. The environment has priority over this file.',
    '# Live rejects the keys, passwords and tokens that are shown here.',
    '',
    `${blocks.join('\n\n')}\n`,
  ].join('\n')
}

function wrap(sentence: string): string[] {
  const lines: string[] = []
  let line = '#'
  for (const word of sentence.split(' ')) {
    if (line.length + word.length >= width) {
      lines.push(line)
      line = '#'
    }
    line += ` ${word}`
  }
  return [...lines, line]
}

if (import.meta.main) process.stdout.write(envExample())
