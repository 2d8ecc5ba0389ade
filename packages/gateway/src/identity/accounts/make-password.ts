// Passwords and recovery codes that are made here and told once.
import type { RandomBytes } from '@tillgate/protocol'

// No letter or digit that is taken for another.
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
const passwordGroups = 4
const groupLength = 5

/** 99 bits unless told otherwise, in groups that can be read aloud. */
export function makePassword(random: RandomBytes, groups = passwordGroups): string {
  let text = ''
  while (text.length < groups * groupLength) {
    for (const byte of random(groups * groupLength)) {
      // 248 is the largest multiple of 31 in a byte: above it, letters would not be equally likely.
      if (byte < 248 && text.length < groups * groupLength) text += alphabet[byte % alphabet.length]
    }
  }
  return text.match(/.{5}/g)?.join('-') ?? text
}
