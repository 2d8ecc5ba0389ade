// The operator proves anew who they are, before an act that would outlive the session: whoever finds a screen unlocked
// must not be able to do it. Each try counts as one to sign in.
import { Failure } from '@tillgate/protocol'
import type { OperatorService } from '../../acts/service.ts'
import { type Html, html } from '../../http/html.ts'
import type { Operator } from '../../operators/rules/operator.ts'
import type { Visit } from './console.ts'
import { required } from './forms.ts'

export const passwordField = html`<label>Your password<input type="password" name="password" autocomplete="current-password" required></label>`
export const codeField = html`<label>Code from the app, or a recovery code<input name="code" required autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"></label>`

export function proofFields({ hasSecondStep }: Operator): Html {
  return html`${passwordField}${hasSecondStep && codeField}`
}

/** Throws unless the password is right, and the code where the operator has a second step. */
export async function demandProof(
  { operator, actor }: Visit,
  form: URLSearchParams,
  service: Pick<OperatorService, 'authenticate' | 'secondStep'>,
): Promise<void> {
  const { login } = operator
  await demandPassword(login, form, service)
  if (operator.hasSecondStep)
    await service.secondStep.demand({ login, actor }, required(form, 'code', 'the code from your app'))
}

export async function demandPassword(
  login: string,
  form: URLSearchParams,
  { authenticate }: Pick<OperatorService, 'authenticate'>,
): Promise<void> {
  const proof = await authenticate({ login, password: form.get('password') ?? '' })
  if (proof.kind !== 'right') throw new Failure('invalid_field', { message: 'The password was not right.' })
}
