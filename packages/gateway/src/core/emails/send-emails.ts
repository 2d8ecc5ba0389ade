// Sends what is due: claims, finds out who hears it, writes it in the reader's language, hands it to the mail server and
// records what came of it. Whatever happens between handing over and recording, it is sent again under the same
// Message-ID and never lost.
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
  /** Undefined: nothing is sent. */
  readonly openMail: (() => MailSession) | undefined
  readonly operatorEmails: readonly string[]
  /** Undefined for what cannot be switched off. */
  readonly unsubscribeUrl: Unsubscribe['urlFor']
  readonly publish: Publish
  readonly log: Log
}

/** They go one after the other over one connection. */
const batchSize = 20
/** Longer than a batch takes where every message takes as long as it may; what is left then is given back. */
const leaseMs = 10 * 60_000
const neededForOneMs = 60_000
const tooLate: Sending = { kind: 'postponed', reason: 'its time was over before it could be sent' }

export type SendEmails = ReturnType<typeof makeSendEmails>

export function makeSendEmails(parts: SendEmailsParts) {
  const { emails, vault, clock, random } = parts
  return {
    nextDue: emails.nextDue,

    /** How many were tried. */
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

  /** Undefined: nobody hears it, or somebody else has it. */
  async function address(email: ClaimedEmail): Promise<ClaimedEmail | undefined> {
    const { kind, merchantId } = email
    const to = await emails.findRecipients({ kind, merchantId, operatorEmails: parts.operatorEmails })
    const [first, ...others] = to
    const named = first?.merchant === undefined ? {} : { merchant: first.merchant }
    const addressed = { ...email, parameters: { ...email.parameters, ...named } }
    const { claimId: _, attempts: __, ...told } = addressed
    const nowMs = clock.now()
    const more = others.map(({ email, language }) => ({
      ...told,
      emailId: makeUuid(nowMs, random),
      recipient: email,
      language,
      onceKey: undefined,
    }))
    const isOurs = await emails.address(addressed, first, more)
    return isOurs && first ? { ...addressed, recipient: first.email, language: first.language } : undefined
  }

  async function send(email: ClaimedEmail, mail: MailSession): Promise<Sending> {
    const message = writeOrSay(email)
    return 'kind' in message ? message : mail.send(message)
  }

  /** One that cannot be written is tried again like any other, perhaps by a process that can, and holds up none. */
  function writeOrSay(email: ClaimedEmail): OutgoingMail | Sending {
    try {
      return write(email)
    } catch (error) {
      return { kind: 'postponed', reason: `it cannot be written: ${messageOf(error)}` }
    }
  }

  function write({
    emailId,
    kind,
    language,
    parameters,
    sealedLink,
    recipient = '',
  }: ClaimedEmail): OutgoingMail {
    const link = sealedLink && vault.open(sealedLink, placeOfLink(emailId)).toString()
    const unsubscribeUrl = parts.unsubscribeUrl({ kind, email: recipient, language })
    const message = writeMessage({ kind, language, parameters, link, unsubscribeUrl })
    const headers = {
      // So that no vacation notice answers (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== undefined && {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    }
    return { id: emailId, to: recipient, ...message, headers }
  }
}
