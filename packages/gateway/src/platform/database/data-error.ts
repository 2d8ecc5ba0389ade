// Tells trouble with what was written from trouble with the database.
import { codeOf } from '../runtime/errors.ts'

/** Errors of PostgreSQL's classes 22 (data) and 23 (constraints): the fault lies in what was written. */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '') || isRefusedByWorker(error)
}

/** Citus hands on what a worker refused of a batch without its code, as an internal error. */
export function isRefusedByWorker(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === 'XX000' && /violates .*constraint/.test(error.message)
}
