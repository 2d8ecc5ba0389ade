// Where a transfer stands in a list that has the newest first: by its time, and by its number among those of one millisecond.

export interface TransferPlace {
  readonly madeAtMs: number
  readonly transferId: string
}

export const transferPlacePattern = /^([0-9]{1,15})-([0-9A-Za-z_]{1,30})$/

/** As page marks have it. */
export function writtenPlace({ madeAtMs, transferId }: TransferPlace): string {
  return `${madeAtMs}-${transferId}`
}

/** Undefined: it names no place. */
export function placeOf(written: string): TransferPlace | undefined {
  const [, madeAt, transferId] = transferPlacePattern.exec(written) ?? []
  return transferId === undefined ? undefined : { madeAtMs: Number(madeAt), transferId }
}
