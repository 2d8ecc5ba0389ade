// Slow clients in four forms, played by Debian's slowhttptest: headers that never end, bodies that trickle, ranges that
// overlap, answers that are read a few bytes at a time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { gatewayPath } from '@tillgate/protocol'
import { canInstall, install } from '../../scripts/debian.ts'
import { onlyIdleTime } from './idle-time.ts'

const program = '/usr/bin/slowhttptest'
const connections = '1000'
/** No more than an unknown address may open. */
const newPerSecond = '95'

export const slowForms = {
  'slow headers': ['-H', '-i', '3', '-u', '/'],
  'slow bodies': ['-B', '-i', '3', '-s', '200000', '-f', 'application/json', '-u', gatewayPath],
  'overlapping ranges': ['-R', '-a', '1', '-b', '3000', '-t', 'HEAD', '-u', '/docs'],
  'slow readers': ['-X', '-w', '10', '-y', '20', '-n', '3', '-z', '32', '-k', '3', '-u', '/docs/protocol'],
} as const

export type SlowForm = keyof typeof slowForms

/** Undefined when it is there, otherwise what a person must do. */
export function ensureSlowClients(): string | undefined {
  if (existsSync(program)) return undefined
  const trouble = canInstall() ? install('slowhttptest') : ''
  if (existsSync(program)) return undefined
  return `slowhttptest is missing, so the slow clients are left out (Debian: sudo apt-get install slowhttptest). ${trouble ?? ''}`
}

export async function playSlowClients(
  form: SlowForm,
  options: { url: string; seconds: number },
): Promise<void> {
  const args = slowForms[form].map((arg) => (arg.startsWith('/') ? options.url + arg : arg))
  const [command = program, ...its] = [...onlyIdleTime, program]
  const child = spawn(
    command,
    [...its, '-c', connections, '-r', newPerSecond, '-l', String(options.seconds), '-p', '2', ...args],
    { stdio: 'ignore' },
  )
  await once(child, 'exit')
}
