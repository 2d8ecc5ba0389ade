// The test bank's captures: what is approved with captureMode is only reserved, until its last capture or its release.
import type { CaptureMessageOf, RailCaptureAnswer } from '@tillgate/protocol'
import type { Payment } from './bank.ts'

export type Capture = Pick<
  CaptureMessageOf<'payment.capture'>,
  'captureId' | 'transactionId' | 'amountMinor' | 'final'
>

export function makeCaptures(write: (capture: Capture) => void) {
  const captures = new Map<string, Capture>()
  const of = (transactionId: string) =>
    [...captures.values()].filter((each) => each.transactionId === transactionId)

  /** What it took of a payment. */
  const takenMinor = ({ transactionId, captureMode, amountMinor }: Payment) =>
    captureMode
      ? of(transactionId).reduce((sum, each) => sum + BigInt(each.amountMinor), 0n)
      : BigInt(amountMinor)

  /** A payment as it is with its captures. */
  function seen<Kept extends Payment | undefined>(found: Kept): Kept {
    if (!found?.captureMode || found.isReleased || found.status !== 'approved') return found
    const isOver = of(found.transactionId).some(({ final }) => final)
    return isOver ? found : { ...found, status: 'authorized' }
  }

  /** The same id is the same capture. */
  function capture(asked: Capture, found: Payment | undefined): RailCaptureAnswer {
    const { captureId, transactionId, amountMinor, final } = asked
    const earlier = captures.get(captureId)
    if (earlier) return { status: 'approved', amountMinor: earlier.amountMinor }
    if (found?.status !== 'authorized') return { status: 'declined', reason: 'No money is reserved.' }
    if (takenMinor(found) + BigInt(amountMinor) > BigInt(found.amountMinor))
      return { status: 'declined', reason: 'It is more than what is reserved.' }
    write({ captureId, transactionId, amountMinor, final })
    return { status: 'approved', amountMinor }
  }

  function released(found: Payment): Payment {
    return { ...found, status: takenMinor(found) > 0n ? 'approved' : 'cancelled', isReleased: true }
  }

  const learn = (capture: Capture) => void captures.set(capture.captureId, capture)
  return { takenMinor, seen, capture, released, learn }
}
