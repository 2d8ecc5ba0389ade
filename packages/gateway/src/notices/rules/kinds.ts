// Every kind of notice, as data: who hears it, whether its reader may switch it off, and what its text has gaps for. The
// texts of each language stand beside it in words/; docs/notices.md is made from here.

/** `person`: one address that the cause names. The others are looked up when the notice is sent. */
export type Audience = 'person' | 'merchant' | 'operators'

interface Kind {
  readonly audience: Audience
  readonly tells: string
  /** Its reader may switch it off. */
  readonly isOptional: boolean
  /** What the text has gaps for. */
  readonly gaps: readonly string[]
  /** Carries a one-time link, sealed until it is sent. */
  readonly hasLink?: true
  /** The address goes when the notice ends: it was given for this one. */
  readonly forgetsAddress?: true
}

export const noticeKinds = {
  'member-invitation': {
    audience: 'person',
    tells: 'Somebody is invited to a merchant’s portal',
    isOptional: false,
    gaps: ['merchant', 'inviter', 'until'],
    hasLink: true,
  },
  'member-recovery': {
    audience: 'person',
    tells: 'A member asked for a new password',
    isOptional: false,
    gaps: ['until'],
    hasLink: true,
  },
  'approval-waiting': {
    audience: 'operators',
    tells: 'An act waits for a second operator',
    isOptional: true,
    gaps: ['act', 'requestedBy', 'reason', 'until'],
  },
} as const satisfies Record<string, Kind>

export type NoticeKind = keyof typeof noticeKinds

export type NoticeParameters<K extends NoticeKind> = Readonly<
  Record<(typeof noticeKinds)[K]['gaps'][number], string>
>

type KindsFor<A extends Audience> = {
  [K in NoticeKind]: (typeof noticeKinds)[K]['audience'] extends A ? K : never
}[NoticeKind]

/** Operators read English, as their console is written. */
export type OperatorKind = KindsFor<'operators'>

export function isNoticeKind(text: string): text is NoticeKind {
  return Object.hasOwn(noticeKinds, text)
}

export function kindOf(kind: NoticeKind): Kind {
  return noticeKinds[kind]
}
