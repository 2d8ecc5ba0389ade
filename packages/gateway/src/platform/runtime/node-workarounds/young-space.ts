// V8 lets the space of young objects grow while a program loads, and never gives it back to an idle process. A start
// needs no such space: with 1 MB it takes the same CPU time and leaves 20 to 28 MB less (Node 24.21). Once the gateway
// serves, it grows to three times what `--max-semi-space-size` allows, the 8 MB of `npm start`.
import { setFlagsFromString } from 'node:v8'

/** Before anything else is loaded. */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** V8's own factor. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
