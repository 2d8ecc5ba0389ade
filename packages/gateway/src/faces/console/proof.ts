// The operator proves anew who they are, before an act that would outlive the session: whoever finds a screen unlocked
// must not be able to do it. Tries count for the session, apart from those to sign in.
import { type Html, html } from '../../http/html.ts'
import { refusalOfProof } from '../../operators/authenticate-operator.ts'
import type { Operator } from '../../operators/rules/operator.ts'
import type { Visit } from './console.ts'
import { required } from './forms.ts'
import type { ConsoleService } from './service.ts'

export const passwordField = html`<label>Your password<input type="password" name="password" autocomplete="current-password" required></label>`
export const codeField = html`<label>Code from the app, or a recovery code<input name="code" required autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"></label>`

export function proofFields({ hasSecondStep }: Operator): Html {
  return html`${passwordField}${hasSecondStep && codeField}`
}

/** Throws unless the password is right, and the code where the operator has a second step. */
export async function demandProof(
  visit: Visit,
  form: URLSearchParams,
  service: Pick<ConsoleService, 'authenticate' | 'secondStep'>,
): Promise<void> {
  await demandPassword(visit, form, service)
  const { operator, session, actor } = visit
  if (operator.hasSecondStep)
    await service.secondStep.demand(
      { login: operator.login, actor, session: session.tokenHash },
      required(form, 'code', 'the code from your app'),
    )
}

export async function demandPassword(
  { operator: { login }, session: { tokenHash: session }, nowMs }: Visit,
  form: URLSearchParams,
  { authenticate }: Pick<ConsoleService, 'authenticate'>,
): Promise<void> {
  const proof = await authenticate({ login, session, password: form.get('password') ?? '' })
  if (proof.kind !== 'right') throw refusalOfProof(proof, { nowMs, wrong: 'The password was not right.' })
}
