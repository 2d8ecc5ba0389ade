// The children of a process, as Linux tells them: how a programme finds the one that it is to break.
import { readFile } from 'node:fs/promises'

export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Those whose command line holds these words, as PostgreSQL writes its sessions' there. */
export async function childrenNamed(pid: number, words: string): Promise<number[]> {
  const named: number[] = []
  for (const child of await childrenOf(pid)) {
    const command = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(words)) named.push(child)
  }
  return named
}
