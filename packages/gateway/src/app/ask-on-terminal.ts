// Asks the person at the terminal. What is typed or pasted as a secret is not shown.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

export async function askOnTerminal(
  question: string,
  { isSecret }: { readonly isSecret: boolean },
): Promise<string> {
  process.stderr.write(question)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? hidden : process.stderr,
    terminal: true,
  })
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    return await lines.question('')
  } finally {
    lines.close()
    if (isSecret) process.stderr.write('\n')
  }
}
