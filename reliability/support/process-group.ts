// Runs a command as a process group of its own, so that at the end of its time, or when we are stopped, all that it
// started ends with it: a test runner's files, a gateway's children.
import { spawn } from 'node:child_process'

export type Ended =
  | { readonly kind: 'exited'; readonly code: number | null; readonly output: string }
  | { readonly kind: 'broken_off'; readonly output: string }

export interface GroupOptions {
  readonly tree: string
  readonly environment: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export function runGroup(command: string, args: readonly string[], options: GroupOptions): Promise<Ended> {
  const { tree, environment, timeoutMs, signal } = options
  const child = spawn(command, args, {
    cwd: tree,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = Promise.withResolvers<Ended>()
  let output = ''
  let isBrokenOff = false
  const breakOff = () => {
    isBrokenOff = true
    endGroup(child.pid)
  }
  const timer = setTimeout(breakOff, timeoutMs)
  signal.addEventListener('abort', breakOff, { once: true })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.once('error', ended.reject)
  child.once('close', (code) => {
    // Whoever crashed may have left some of its own behind.
    endGroup(child.pid)
    ended.resolve(isBrokenOff ? { kind: 'broken_off', output } : { kind: 'exited', code, output })
  })
  return ended.promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', breakOff)
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody of it is left.
  }
}
