// strace, which makes system calls of a running process fail, or ends it in the middle of one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Injection {
  /** Such as fsync,fdatasync. */
  readonly calls: string
  /** What happens there: signal=SIGKILL, error=EIO. */
  readonly effect: string
  /** At the n-th such call of each process; `3+` from the third on. Left out, at every one. */
  readonly when?: string
}

export interface Attached {
  /** How often it has happened so far. */
  times(): number
  /** Resolves when the process is gone, or has been left. */
  readonly over: Promise<void>
  leave(): Promise<void>
}

const attachWithinMs = 20_000

function argumentsOf({ calls, effect, when }: Injection): string[] {
  const rule = `inject=${calls}:${effect}${when === undefined ? '' : `:when=${when}`}`
  return ['-f', '-e', `trace=${calls}`, '-e', rule]
}

/** Watches running processes, and the children that they have from now on. */
export async function attachStrace(pids: readonly number[], injection: Injection): Promise<Attached> {
  const child = spawn('strace', [...argumentsOf(injection), ...pids.flatMap((pid) => ['-p', String(pid)])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let words = ''
  let isAttached = () => {}
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words += text
    if (words.split(' attached').length > pids.length) isAttached()
  })
  const over = once(child, 'exit').then(() => {})
  const attached = new Promise<boolean>((resolve) => {
    isAttached = () => resolve(true)
  })
  const late = setTimeout(() => child.kill('SIGTERM'), attachWithinMs)
  const isWatching = await Promise.race([attached, over.then(() => false)])
  clearTimeout(late)
  // Otherwise nothing would happen to anybody, and look like success.
  if (!isWatching) throw new Error(`strace could not watch ${pids.join(', ')}: ${words}`)
  return {
    times: () => words.split(/\(INJECTED\)|\+\+\+ killed by SIGKILL/).length - 1,
    over,
    leave: () => leave(child, over),
  }
}

/** Told to end it lets go of whom it watches; killed, it might take them along. */
async function leave(child: ChildProcess, over: Promise<void>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
  await over
}

/**
 * For the start of a program that is watched from its first moment, its threads but not its children. The program has
 * the number of the process that was started, not strace.
 */
export function underStrace(injection: Injection): string[] {
  return ['strace', '-D', '-b', 'execve', '-o', '/dev/null', ...argumentsOf(injection)]
}
