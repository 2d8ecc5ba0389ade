// Recognizes errors caused by the written data rather than by the database.
import { codeOf } from '../runtime/errors.ts'

export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '') || isRefusedByWorker(error)
}

/** Citus reports data that a worker rejected in a batch as an internal error without the original code. */
export function isRefusedByWorker(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === 'XX000' && /violates .*constraint/.test(error.message)
}
