// Sends due emails: claims them, finds the recipients, renders, sends, and records the outcome. After a crash before
// the record, an email is sent again with the same Message-ID.
import { makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { messageOf } from '../../platform/runtime/errors.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { MailSession, OutgoingMail, Sending } from '../../platform/runtime/outside/mail.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import type { Publish } from '../changes/rules/change.ts'
import { afterSending, type ClaimedEmail, isOver, placeOfLink } from './rules/email.ts'
import { isEmailKind } from './rules/kinds.ts'
import { writeMessage } from './rules/write-message.ts'
import type { EmailStore } from './store/emails.ts'
import type { Unsubscribe } from './unsubscribe.ts'

export interface SendEmailsParts extends ClockAndRandom {
  readonly emails: EmailStore
  readonly vault: Vault
  readonly openMail: (() => MailSession) | undefined
  readonly operatorEmails: readonly string[]
  /** Undefined for kinds that cannot be turned off. */
  readonly unsubscribeUrl: Unsubscribe['urlFor']
  readonly publish: Publish
  readonly log: Log
}

/** Sent one after the other over one connection. */
const batchSize = 20
/** Longer than a batch of the slowest possible messages. Unsent ones are returned. */
const leaseMs = 10 * 60_000
const neededForOneMs = 60_000
const tooLate: Sending = { kind: 'postponed', reason: 'its time was over before it could be sent' }

type WriteParts = Pick<SendEmailsParts, 'vault' | 'unsubscribeUrl'>

export function makeSendEmails(parts: SendEmailsParts) {
  const { emails, clock, random } = parts
  return {
    nextDue: emails.nextDue,

    async sendDue(signal: AbortSignal): Promise<number> {
      if (!parts.openMail) return 0
      const nowMs = clock.now()
      const claimId = makeUuid(nowMs, random)
      const claimed = await emails.claim({ claimId, nowMs, leaseMs, limit: batchSize })
      if (claimed.length === 0) return 0
      const mail = parts.openMail()
      const untilMs = nowMs + leaseMs - neededForOneMs
      try {
        await sendAll(claimed, mail, () => signal.aborted || clock.now() > untilMs)
      } finally {
        mail.close()
        await emails.giveBack(claimId, clock.now())
      }
      return claimed.length
    },
  }

  async function sendAll(
    claimed: readonly ClaimedEmail[],
    mail: MailSession,
    isTimeUp: () => boolean,
  ): Promise<void> {
    let unreachable: Sending | undefined
    for (const email of claimed) {
      if (isTimeUp()) return
      const isUnaddressed = email.recipient === undefined && isEmailKind(email.kind)
      const addressed = isUnaddressed ? await address(email) : email
      if (!addressed) continue
      const sending = isOver(addressed, clock.now())
        ? tooLate
        : (unreachable ?? (await send(addressed, mail)))
      if (sending.kind === 'unreachable') unreachable = sending
      const outcome = afterSending(addressed, sending, clock.now())
      if (await emails.record(addressed, outcome, clock.now())) recorded(addressed, outcome)
    }
  }

  function recorded(
    { kind, attempts: count }: ClaimedEmail,
    { state, error: reason }: ReturnType<typeof afterSending>,
  ): void {
    parts.publish([{ kind: 'email', state }])
    if (state === 'refused' || state === 'given_up')
      parts.log.warn({ worker: 'send-emails', method: kind, count, reason }, `an email was ${state}`)
  }

  /** Undefined if there is no recipient or another worker has the email. */
  async function address(email: ClaimedEmail): Promise<ClaimedEmail | undefined> {
    const { kind, merchantId } = email
    const to = await emails.findRecipients({ kind, merchantId, operatorEmails: parts.operatorEmails })
    const [first, ...others] = to
    const named = first?.merchant === undefined ? {} : { merchant: first.merchant }
    const addressed = { ...email, parameters: { ...email.parameters, ...named } }
    const { claimId: _, attempts: __, ...content } = addressed
    const nowMs = clock.now()
    const more = others.map(({ email, language }) => ({
      ...content,
      emailId: makeUuid(nowMs, random),
      recipient: email,
      language,
      onceKey: undefined,
    }))
    const isOurs = await emails.address(addressed, first, more)
    return isOurs && first ? { ...addressed, recipient: first.email, language: first.language } : undefined
  }

  async function send(email: ClaimedEmail, mail: MailSession): Promise<Sending> {
    const message = writeOrPostpone(parts, email)
    return 'kind' in message ? message : mail.send(message)
  }
}

/** An email that cannot be rendered is retried like any other, perhaps by a newer process. */
function writeOrPostpone(parts: WriteParts, email: ClaimedEmail): OutgoingMail | Sending {
  try {
    return write(parts, email)
  } catch (error) {
    return { kind: 'postponed', reason: `it cannot be written: ${messageOf(error)}` }
  }
}

function write(
  { vault, unsubscribeUrl: urlFor }: WriteParts,
  { emailId, kind, language, parameters, sealedLink, recipient = '' }: ClaimedEmail,
): OutgoingMail {
  const link = sealedLink && vault.open(sealedLink, placeOfLink(emailId)).toString()
  const unsubscribeUrl = urlFor({ kind, email: recipient, language })
  const message = writeMessage({ kind, language, parameters, link, unsubscribeUrl })
  const headers = {
    // Prevents automatic replies (RFC 3834).
    'Auto-Submitted': 'auto-generated',
    ...(unsubscribeUrl !== undefined && {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }),
  }
  return { id: emailId, to: recipient, ...message, headers }
}
