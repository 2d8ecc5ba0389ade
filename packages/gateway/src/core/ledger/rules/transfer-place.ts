// The position of a transfer in a list: its time, and its number within the millisecond.

export interface TransferPlace {
  readonly madeAtMs: number
  readonly transferId: string
}

export const transferPlacePattern = /^([0-9]{1,15})-([0-9A-Za-z_]{1,30})$/

export function writtenPlace({ madeAtMs, transferId }: TransferPlace): string {
  return `${madeAtMs}-${transferId}`
}

/** Returns undefined for an invalid text. */
export function placeOf(written: string): TransferPlace | undefined {
  const [, madeAt, transferId] = transferPlacePattern.exec(written) ?? []
  return transferId === undefined ? undefined : { madeAtMs: Number(madeAt), transferId }
}
