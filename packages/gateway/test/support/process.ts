// The real program in a process of its own, as `npm start` runs it; ended, with its PostgreSQL, after the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { copyFolder } from './data-dir.ts'

export const startScript = join(import.meta.dirname, '../../start.js')
export const commandScript = join(import.meta.dirname, '../../tillgate.js')

const { NODE_COMPILE_CACHE: compileCache } = process.env

export interface RunningGateway {
  readonly child: ChildProcess
  readonly publicUrl: string
  readonly adminUrl: string
  /** Everything that it wrote so far. */
  output(): string
  exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-process-'))
  after(() => {
    endPostgres(folder)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return folder
}

/** A DATA_DIR as a first start and a clean stop leave it. To be copied: making one takes seconds. */
export async function makeUsedFolder(): Promise<string> {
  const folder = temporaryFolder()
  const gateway = await startProcess({ DATA_DIR: folder })
  gateway.child.kill('SIGTERM')
  await gateway.exited()
  return folder
}

export async function copyOfFolder(used: string): Promise<string> {
  const folder = temporaryFolder()
  await copyFolder(`${used}/.`, folder)
  return folder
}

export function run(
  environment: Record<string, string>,
  options: { script?: string; cwd?: string; args?: string[] } = {},
) {
  const child = spawn(process.execPath, [options.script ?? startScript, ...(options.args ?? [])], {
    cwd: options.cwd ?? tmpdir(),
    env: {
      PATH: process.env['PATH'],
      // What the runner has compiled need not be compiled again.
      ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }),
      PORT: '0',
      ADMIN_PORT: '0',
      HOST: '127.0.0.1',
      SHOP_PORT: 'off',
      RAIL_PORT: 'off',
      LOG_FORMAT: 'json',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      output += text
    })
  }
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  after(() => child.kill('SIGKILL'))
  return { child, output: () => output, exited: () => exit }
}

/** Started and ready. */
export async function startProcess(environment: Record<string, string>): Promise<RunningGateway> {
  const started = run(environment)
  const line = await lineWith(started, '"msg":"ready"')
  const { publicUrl, adminUrl } = JSON.parse(line)
  return { ...started, publicUrl, adminUrl }
}

/** The first line of the output that holds the text; fails when the program ends without it. */
export async function lineWith(
  started: Pick<RunningGateway, 'child' | 'output'>,
  text: string,
  timeoutMs = 120_000,
): Promise<string> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const line = started
      .output()
      .split('\n')
      .find((each) => each.includes(text))
    if (line) return line
    if (started.child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`the program did not say ${text}:\n${started.output()}`)
    }
    await pause(10)
  }
}

function endPostgres(folder: string): void {
  try {
    const pid = Number.parseInt(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8'), 10)
    process.kill(pid, 'SIGQUIT')
  } catch {
    // There is none, or it is gone.
  }
}
