// Files that a command is given by name; - is standard input.
import { readFileSync } from 'node:fs'
import { exitCodes, StartFailure } from '../../platform/start-failure.ts'

export function readTextFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new StartFailure(`${path} cannot be read: ${(error as Error).message}`, {
      exitCode: exitCodes.other,
      cause: error,
    })
  }
}
