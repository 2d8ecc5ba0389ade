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
import { isNoticeKind } from './rules/kinds.ts'
import { afterSending, type ClaimedNotice, isOver, placeOfLink } from './rules/notice.ts'
import { writeMessage } from './rules/write-message.ts'
import type { NoticeStore } from './store/notices.ts'
import type { Unsubscribe } from './unsubscribe.ts'

export interface SendNoticesParts extends ClockAndRandom {
  readonly notices: NoticeStore
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

export type SendNotices = ReturnType<typeof makeSendNotices>

export function makeSendNotices(parts: SendNoticesParts) {
  const { notices, vault, clock, random } = parts
  return {
    nextDue: notices.nextDue,

    /** How many were tried. */
    async sendDue(signal: AbortSignal): Promise<number> {
      if (!parts.openMail) return 0
      const nowMs = clock.now()
      const claimId = makeUuid(nowMs, random)
      const claimed = await notices.claim({ claimId, nowMs, leaseMs, limit: batchSize })
      if (claimed.length === 0) return 0
      const mail = parts.openMail()
      const untilMs = nowMs + leaseMs - neededForOneMs
      try {
        await sendAll(claimed, mail, () => signal.aborted || clock.now() > untilMs)
      } finally {
        mail.close()
        await notices.giveBack(claimId, clock.now())
      }
      return claimed.length
    },
  }

  async function sendAll(
    claimed: readonly ClaimedNotice[],
    mail: MailSession,
    isTimeUp: () => boolean,
  ): Promise<void> {
    let unreachable: Sending | undefined
    for (const notice of claimed) {
      if (isTimeUp()) return
      const isUnaddressed = notice.recipient === undefined && isNoticeKind(notice.kind)
      const addressed = isUnaddressed ? await address(notice) : notice
      if (!addressed) continue
      const sending = isOver(addressed, clock.now())
        ? tooLate
        : (unreachable ?? (await send(addressed, mail)))
      if (sending.kind === 'unreachable') unreachable = sending
      const outcome = afterSending(addressed, sending, clock.now())
      if (await notices.record(addressed, outcome, clock.now())) recorded(addressed, outcome)
    }
  }

  function recorded(
    { kind, attempts: count }: ClaimedNotice,
    { state, error: reason }: ReturnType<typeof afterSending>,
  ): void {
    parts.publish([{ kind: 'email', state }])
    if (state === 'refused' || state === 'given_up')
      parts.log.warn({ worker: 'send-emails', method: kind, count, reason }, `an email was ${state}`)
  }

  /** Undefined: nobody hears it, or somebody else has it. */
  async function address(notice: ClaimedNotice): Promise<ClaimedNotice | undefined> {
    const { kind, merchantId } = notice
    const to = await notices.findRecipients({ kind, merchantId, operatorEmails: parts.operatorEmails })
    const [first, ...others] = to
    const named = first?.merchant === undefined ? {} : { merchant: first.merchant }
    const addressed = { ...notice, parameters: { ...notice.parameters, ...named } }
    const { claimId: _, attempts: __, ...told } = addressed
    const nowMs = clock.now()
    const more = others.map(({ email, language }) => ({
      ...told,
      noticeId: makeUuid(nowMs, random),
      recipient: email,
      language,
      onceKey: undefined,
    }))
    const isOurs = await notices.address(addressed, first, more)
    return isOurs && first ? { ...addressed, recipient: first.email, language: first.language } : undefined
  }

  async function send(notice: ClaimedNotice, mail: MailSession): Promise<Sending> {
    const message = writeOrSay(notice)
    return 'kind' in message ? message : mail.send(message)
  }

  /** One that cannot be written is tried again like any other, perhaps by a process that can, and holds up none. */
  function writeOrSay(notice: ClaimedNotice): OutgoingMail | Sending {
    try {
      return write(notice)
    } catch (error) {
      return { kind: 'postponed', reason: `it cannot be written: ${messageOf(error)}` }
    }
  }

  function write({
    noticeId,
    kind,
    language,
    parameters,
    sealedLink,
    recipient = '',
  }: ClaimedNotice): OutgoingMail {
    const link = sealedLink && vault.open(sealedLink, placeOfLink(noticeId)).toString()
    const unsubscribeUrl = parts.unsubscribeUrl({ kind, email: recipient, language })
    const message = writeMessage({ kind, language, parameters, link, unsubscribeUrl })
    const headers =
      unsubscribeUrl === undefined
        ? {}
        : {
            'List-Unsubscribe': `<${unsubscribeUrl}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }
    return { id: noticeId, to: recipient, ...message, headers }
  }
}
