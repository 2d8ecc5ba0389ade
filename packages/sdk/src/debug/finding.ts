// A finding of the debugger: the mistake's stable name, an explanation, the fix, and the evidence.

export interface Finding {
  readonly kind: string
  readonly problem: string
  readonly fix: string
  /** Lines such as the position of a difference. Never any part of a key. */
  readonly evidence?: readonly string[]
}
