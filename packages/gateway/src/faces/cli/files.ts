// Files that a command is given by name; - is standard input.
import { readFileSync } from 'node:fs'
import { messageOf } from '../../platform/errors.ts'
import { exitCodes, StartFailure } from '../../platform/start-failure.ts'

export function readTextFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8')
  } catch (error) {
    throw new StartFailure(`${path} cannot be read: ${messageOf(error)}`, {
      exitCode: exitCodes.other,
      cause: error,
    })
  }
}
