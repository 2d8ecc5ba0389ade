// Files that a command is given by name; - is standard input.
import { createReadStream, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { GivenFile } from '../../acts/act.ts'
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

/** Read piece by piece, and more than once; standard input is held for that. */
export function namedFile(path: string): GivenFile {
  if (path === '-') {
    const content = Buffer.from(readTextFile(path))
    return {
      name: 'standard input',
      async *open() {
        yield content
      },
    }
  }
  return {
    name: basename(path),
    async *open() {
      try {
        yield* createReadStream(path)
      } catch (error) {
        throw new StartFailure(`${path} cannot be read: ${messageOf(error)}`, {
          exitCode: exitCodes.other,
          cause: error,
        })
      }
    },
  }
}
