// Describes the first difference between two texts.

const context = 24

/** undefined if they are equal. */
export function describeDifference(
  { expected, found }: { expected: string; found: string },
  names = { expected: 'expected', found: 'found' },
): string[] | undefined {
  const [a, b] = [Buffer.from(expected), Buffer.from(found)]
  if (a.equals(b)) return undefined
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  const width = Math.max(names.expected.length, names.found.length)
  const line = (name: string, bytes: Buffer) => `${name.padEnd(width)}  ${excerpt(bytes, at)}`
  return [
    `they part at byte ${at} (${describeByte(a[at])} there, ${describeByte(b[at])} here)`,
    line(names.expected, a),
    line(names.found, b),
  ]
}

function describeByte(byte: number | undefined): string {
  if (byte === undefined) return 'the end'
  const hex = `0x${byte.toString(16).padStart(2, '0')}`
  return byte > 0x20 && byte < 0x7f ? `${hex} "${String.fromCharCode(byte)}"` : hex
}

function excerpt(bytes: Buffer, at: number): string {
  const start = Math.max(0, at - context)
  const before = bytes.subarray(start, at).toString()
  const after = bytes.subarray(at, at + context).toString()
  const shown = `${start > 0 ? '…' : ''}${JSON.stringify(before).slice(1, -1)}⟦${JSON.stringify(after).slice(1, -1)}⟧`
  return at + context < bytes.length ? `${shown}…` : shown
}
