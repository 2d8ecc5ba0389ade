// What an operator may do, and a merchant's member with their own merchant, declared once. From the declaration come the route of the admin API with its description,
// the command with its help, the forms of console and portal, and the name in the audit.
import type { Static, TObject, TSchema } from 'typebox'
import type { AnyContext, Context } from '../core/audit/context.ts'
import { type AuditedAction, type Effect, effectsOfActions } from '../core/audit/rules/effects.ts'
import type { MemberRole, Role } from '../core/audit/rules/roles.ts'
import { type ApiToken, type Scope, scopes } from '../identity/operators/rules/api-token.ts'
import type { Operator } from '../identity/operators/rules/operator.ts'
import { type Answered, answerOf, type FileType } from './answers.ts'
import type { MerchantOperations, Operations } from './operations.ts'

/** What was typed, field by field. */
export type RawInput = Readonly<Record<string, string | readonly string[] | undefined>>

export interface ActionCall<Params = unknown, Input = unknown> {
  readonly operations: Operations
  readonly context: AnyContext
  /** Undefined on the command line, which knows an account of the machine and no person, and where a member acts. */
  readonly operator: Operator | undefined
  /** Of the admin API alone. */
  readonly token?: ApiToken
  readonly nowMs: number
  readonly params: Params
  readonly input: Input
  /** Sent again with the same one, it is done once. */
  readonly actId: string | undefined
  /** Of an action that takes one. */
  readonly file?: GivenFile | undefined
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
  /**
   * Throws unless whoever fills in the form proves anew who they are. For the operation to ask after it has read what the
   * proof is for, so that what was proven before access was ended is not worth anything after it.
   */
  readonly prove?: () => Promise<void>
}

/** A call that may come from an operator, or from a member for their own merchant. */
export interface SharedCall<Params = unknown, Input = unknown>
  extends Omit<ActionCall<Params, Input>, 'operations' | 'context'> {
  readonly operations: MerchantOperations
  readonly context: Context
}

/** A file that somebody chose or sent; read from its beginning each time. */
export interface GivenFile {
  readonly name: string
  readonly open: () => AsyncIterable<Uint8Array>
}

/** What came of it, for a person. */
export interface Told {
  readonly text: string
  /** Shown this once, by what each is called. */
  readonly secrets?: readonly (readonly [label: string, value: string])[]
  /** Longer text that goes with it, such as a public key. */
  readonly block?: string
  /** The console's page to go on with. */
  readonly page?: string
  /** What to do next on the command line. */
  readonly next?: string
}

/** What a request that waits keeps with its input, and what its requester alone is shown, once. */
export interface Prepared<Input = Readonly<Record<string, unknown>>> {
  readonly input: Input
  readonly secrets: NonNullable<Told['secrets']>
}

export interface ApiOperation {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Below the prefix, with parameters as `:name`. */
  readonly path: string
}

/** Its words are the action's name: `merchant.add` is `merchant add`. */
export interface ActionCommand {
  /** Fields of the input that are arguments, not options, after the parameters. */
  readonly arguments?: readonly string[]
  /** Options without a value, by name, for `read`. */
  readonly flags?: Readonly<Record<string, string>>
  /** Fields that `read` makes. */
  readonly omits?: readonly string[]
  readonly read?: (raw: RawInput) => RawInput
  /** Beside what the input itself requires. */
  readonly required?: readonly string[]
  /** Of a list, where not all fit on a line. */
  readonly columns?: readonly string[]
  readonly help?: string
}

/** A form of the console. `Subject` is what its place is about, such as a merchant. */
export interface ActionForm<Subject = never> {
  /** Pages show all forms of a place. */
  readonly place: string
  /** Where the form is sent: its page and the action's verb, unless given. */
  readonly path: string
  /** The page that shows the form, with parameters as `:name`. */
  readonly page: string
  /** On the closed fold. */
  readonly label: string
  /** What will happen. */
  readonly explains: string | ((subject: Subject) => string)
  readonly button: string | ((subject: Subject) => string)
  readonly isDangerous?: true
  /** Those that are shown, in this order; all of the input unless given. */
  readonly fields?: readonly string[]
  /** Carried along unseen; the page says their values. */
  readonly hidden?: readonly string[]
  readonly fixed?: Readonly<Record<string, string>>
  /** Beside what the input itself requires. */
  readonly required?: readonly string[]
  readonly isOffered?: (subject: Subject, at: { readonly nowMs: number; readonly login: string }) => boolean
  readonly read?: (raw: RawInput) => RawInput
  /** Asks for password and code anew. */
  readonly wantsProof?: true
  /** For fields that stand elsewhere on the page. */
  readonly formId?: string
}

/**
 * A screen of the merchants' portal. The merchant is the session's, whatever is sent; the words are the portal's own, in
 * its languages.
 */
export interface PortalForm
  extends Pick<
    ActionForm,
    'fields' | 'hidden' | 'fixed' | 'required' | 'read' | 'wantsProof' | 'isDangerous'
  > {
  /** Which members may. */
  readonly roles: readonly MemberRole[]
  /** By which its words are found. */
  readonly name: string
  /** Where its screen is and where it is sent, below the portal's prefix, parameters but the merchant as `:name`. */
  readonly path: string
  /** The page to go back to. */
  readonly page: string
}

export interface Action {
  /** As in the audit. */
  readonly name: string
  readonly summary: string
  /** What it can do to money. Where the settings cover one of these, a second operator must approve it. */
  readonly effects: readonly Effect[]
  /** Runs on the machine itself without approval: the way to a second operator where there is none. */
  readonly isRecovery: boolean
  /** Which tokens may; undefined: any, or no token at all where there is no route. */
  readonly scope: Scope | undefined
  readonly needs: Role
  /** What it is done to: in the path of the API, an argument of the command. */
  readonly params: TObject | undefined
  /** Query or body of the API, options of the command, fields of the form. */
  readonly input: TObject | undefined
  /** A file is sent as it is, without the envelope. */
  readonly answer: TObject | FileType
  /** Done once under an id: the Idempotency-Key, or the form's own number. */
  readonly isOnce: boolean
  /** The body of the API, the first argument of the command, a chosen file of the form. */
  readonly takesFile: boolean
  readonly api?: ApiOperation | undefined
  readonly command?: ActionCommand | undefined
  readonly forms: readonly ActionForm[]
  readonly portal: readonly PortalForm[]
  /** What a schema cannot say about a field. Throws; so that a form shows all errors at once. */
  readonly checks: Readonly<Record<string, (given: Readonly<Record<string, unknown>>) => void>>
  /** Input that a waiting request keeps, so that it runs only if things are still as they were. */
  /** For a secret that is not the approver's to learn whole. Undefined: it makes none. */
  readonly prepare: ((call: ActionCall) => Prepared | undefined) | undefined
  readonly pin: ((call: ActionCall) => Promise<Readonly<Record<string, unknown>>>) | undefined
  readonly run: (call: ActionCall) => Promise<unknown>
  /** The same for a member, whose context is limited to their merchant. */
  readonly runForMember: ((call: SharedCall) => Promise<unknown>) | undefined
  readonly tell: ((answer: unknown, given: Given<unknown, unknown>) => Told) | undefined
}

interface Given<Params, Input> {
  readonly params: Params
  readonly input: Input
}

type Checked<Schema> = Schema extends TSchema ? Static<Schema> : undefined

interface ActionGiven<Params, Input, Answer extends TObject | FileType, Call> {
  readonly name: string
  readonly summary: string
  /** Those of the audited action of this name, unless given. */
  readonly effects?: readonly Effect[]
  readonly isRecovery?: true
  readonly scope?: Scope
  /** Where no scope says it. */
  readonly needs?: Role
  readonly params?: Params
  readonly input?: Input
  readonly answer: Answer
  readonly isOnce?: true
  readonly takesFile?: true
  /** Where the path of the route does not follow from the name and the parameters. */
  readonly apiPath?: string
  /** False: the command line does not have it. */
  readonly command?: ActionCommand | false
  readonly form?: FormGiven
  /** Where it has several. */
  readonly forms?: readonly FormGiven[]
  readonly checks?: Action['checks']
  readonly pin?: (call: ActionCall<Checked<Params>, Checked<Input>>) => Promise<Partial<Checked<Input>>>
  readonly prepare?: (
    call: ActionCall<Checked<Params>, Checked<Input>>,
  ) => Prepared<Partial<Checked<Input>>> | undefined
  readonly run: (
    call: Call,
  ) => Promise<Answer extends TSchema ? Answered<Static<Answer>> : AsyncIterable<string>>
  readonly tell?: (answer: Checked<Answer>, given: Given<Checked<Params>, Checked<Input>>) => Told
}

/** Holds `run` and `tell` to the schemas while they are written. */
export function defineAction<
  Answer extends TObject | FileType,
  Params extends TObject | undefined = undefined,
  Input extends TObject | undefined = undefined,
>(given: ActionGiven<Params, Input, Answer, ActionCall<Checked<Params>, Checked<Input>>>): Action {
  return {
    ...given,
    effects: given.effects ?? declaredEffects(given.name),
    api: apiOf(given),
    command: given.command === false ? undefined : (given.command ?? {}),
    isRecovery: given.isRecovery ?? false,
    scope: given.scope,
    needs: given.needs ?? (given.scope ? scopes[given.scope].needs : 'viewer'),
    params: given.params,
    input: given.input,
    isOnce: given.isOnce ?? false,
    takesFile: given.takesFile ?? false,
    forms: (given.forms ?? (given.form ? [given.form] : [])).map((each) => withPath(each, given.name)),
    portal: [],
    checks: given.checks ?? {},
    pin: given.pin as Action['pin'],
    prepare: given.prepare as Action['prepare'],
    // Safe, both: every adapter checks by these very schemas before it calls.
    run: async (call) => answerOf(given.answer, await (given.run as Action['run'])(call)),
    runForMember: undefined,
    tell: given.tell as Action['tell'],
  }
}

/** An action that members may also do with their own merchant: it reaches no further than its context. */
export function defineSharedAction<
  Answer extends TObject | FileType,
  Params extends TObject | undefined = undefined,
  Input extends TObject | undefined = undefined,
>(
  given: ActionGiven<Params, Input, Answer, SharedCall<Checked<Params>, Checked<Input>>> & {
    readonly portal: readonly PortalFormGiven[]
  },
): Action {
  const action = defineAction(given)
  // Safe: the call of an operator is one of these, and `run` takes both.
  const portal = given.portal.map((each) => withPath(each, given.name))
  return { ...action, portal, runForMember: action.run as Action['runForMember'] }
}

/** Throws for an action that is neither audited nor read-only: what it can do to money must be declared. */
function declaredEffects(name: string): readonly Effect[] {
  if (Object.hasOwn(effectsOfActions, name)) return effectsOfActions[name as AuditedAction]
  if (isReading(name)) return []
  throw new Error(`the action ${name} declares no effects`)
}

const readingVerbs =
  /^(list|search|show|explain|export|download|statement|trial-balance|imports|mappings|days)\b/

function isReading(name: string): boolean {
  return readingVerbs.test(verbOf(name)) && !Object.hasOwn(effectsOfActions, name)
}

/** `payout.cancel` of a merchant is POST /merchants/:merchantId/payouts/:payoutId/cancel. An action without a scope has no route. */
function apiOf({
  name,
  scope,
  params,
  apiPath,
}: Pick<ActionGiven<TObject | undefined, unknown, TObject, never>, 'name' | 'scope' | 'params' | 'apiPath'>):
  | ApiOperation
  | undefined {
  if (scope === undefined && apiPath === undefined) return undefined
  const [noun = ''] = name.split('.')
  const verb = verbOf(name)
  const { merchantId, ...others } = params?.properties ?? {}
  const isOfMerchant = merchantId !== undefined && noun !== 'merchant'
  const segments = [
    ...(isOfMerchant ? ['merchants', ':merchantId'] : []),
    collections[noun] ?? `${noun}s`,
    ...(merchantId !== undefined && !isOfMerchant ? [':merchantId'] : []),
    ...Object.keys(others).map((field) => `:${field}`),
    ...(/^(list|show|add|create|change)$/.test(verb) ? [] : [verb]),
  ]
  const method = isReading(name) ? 'GET' : verb === 'change' ? 'PATCH' : 'POST'
  return { method, path: apiPath ?? `/${segments.join('/')}` }
}

/** Where the plural of the noun is not the noun and an s. */
const collections: Readonly<Record<string, string>> = {
  audit: 'audit',
  ledger: 'ledger',
  system: 'system',
  reconcile: 'reconciliation',
}

function verbOf(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

function withPath<Form extends { readonly page: string }>(
  given: Form & { readonly path?: string },
  name: string,
): Form & { readonly path: string } {
  return { ...given, path: given.path ?? `${given.page}/${verbOf(name)}` }
}

type FormGiven<Subject = never> = Omit<ActionForm<Subject>, 'path'> & Partial<Pick<ActionForm, 'path'>>
type PortalFormGiven = Omit<PortalForm, 'path'> & Partial<Pick<PortalForm, 'path'>>

/** Lets the functions of a form know what its place is about. */
export function form<Subject>(given: FormGiven<Subject>): FormGiven {
  return given
}
