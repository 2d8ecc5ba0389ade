// Files named in commands; - is standard input.
import { createReadStream, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { GivenFile } from '../../actions/action.ts'
import { messageOf } from '../../platform/runtime/errors.ts'
import { exitCodes, StartFailure } from '../../platform/runtime/start-failure.ts'

export function readTextFile(path: string): string {
  return readBytes(path).toString()
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path)
  } catch (error) {
    throw new StartFailure(`Cannot read ${path}: ${messageOf(error)}`, {
      exitCode: exitCodes.other,
      cause: error,
    })
  }
}

/** Read in pieces, and more than once; standard input is therefore kept in memory. */
export function namedFile(path: string): GivenFile {
  if (path === '-') {
    // The raw bytes: the file declares its encoding, and its hash identifies it.
    const content = readBytes(path)
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
        throw new StartFailure(`Cannot read ${path}: ${messageOf(error)}`, {
          exitCode: exitCodes.other,
          cause: error,
        })
      }
    },
  }
}
