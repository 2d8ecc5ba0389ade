// Runs a program of the package on the Node.js that the package brings, because npm may itself run on an older one.
// Plain JavaScript that an old Node.js can read.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

export function run(script, { options = [], args = process.argv.slice(2) } = {}) {
  const node = ownNode()
  const argv = [...options, join(root, script), ...args]
  const env = { MALLOC_ARENA_MAX: '1', ...process.env, NODE_COMPILE_CACHE: '' }
  // The program takes the place of this process where Node.js can do that (23.11 and newer).
  if (process.execve) process.execve(node, [node, ...argv], env)
  const child = spawn(node, argv, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function ownNode() {
  try {
    const name = `node-${process.platform}-${process.arch}/package.json`
    return join(dirname(createRequire(import.meta.url).resolve(name)), 'bin/node')
  } catch {
    return process.execPath
  }
}
