// One declaration of what operators may do, and members of a merchant within their merchant. It generates the admin
// API's routes and descriptions, the commands and their help, the forms of console and portal, and the names in the
// audit log.
import type { Static, TObject, TSchema } from 'typebox'
import type { AnyContext, Context } from '../core/authority/context.ts'
import { type AuditedAction, type Effect, effectsOfActions } from '../core/authority/rules/effects.ts'
import type { MemberRole, Role } from '../core/authority/rules/roles.ts'
import { type ApiToken, type Scope, scopes } from '../identity/operators/rules/api-token.ts'
import type { Operator } from '../identity/operators/rules/operator.ts'
import { type Answered, answerOf, type FileType } from './answers.ts'
import type { MerchantOperations, Operations } from './operations.ts'

/** The raw text of each field. */
export type RawInput = Readonly<Record<string, string | readonly string[] | undefined>>

export interface ActionCall<Params = unknown, Input = unknown> {
  readonly operations: Operations
  readonly context: AnyContext
  /** Undefined on the command line, which has a machine account instead of an operator, and for members. */
  readonly operator: Operator | undefined
  /** Only for the admin API. */
  readonly token?: ApiToken
  readonly nowMs: number
  readonly params: Params
  readonly input: Input
  /** The idempotency key: a repeat with the same key runs once. */
  readonly idempotencyKey: string | undefined
  /** For actions that take a file. */
  readonly file?: GivenFile | undefined
  /** Aborted when the caller has left. */
  readonly signal?: AbortSignal | undefined
  /** Throws unless the person confirms with password and code again. Called before the action runs. */
  readonly confirm?: () => Promise<void>
}

/** A call by an operator, or by a member for their own merchant. */
export interface SharedCall<Params = unknown, Input = unknown>
  extends Omit<ActionCall<Params, Input>, 'operations' | 'context'> {
  readonly operations: MerchantOperations
  readonly context: Context
}

/** A chosen or uploaded file; each read starts at its beginning. */
export interface GivenFile {
  readonly name: string
  readonly open: () => AsyncIterable<Uint8Array>
}

/** The result for a person. */
export interface Reply {
  readonly text: string
  /** Shown only once, with their labels. */
  readonly secrets?: readonly (readonly [label: string, value: string])[]
  /** Longer text, such as a public key. */
  readonly block?: string
  /** The console page to continue on. */
  readonly page?: string
  /** The next step on the command line. */
  readonly next?: string
}

/** What a waiting request stores with its input, and what only its requester sees, once. */
export interface Prepared<Input = Readonly<Record<string, unknown>>> {
  readonly input: Input
  readonly secrets: NonNullable<Reply['secrets']>
}

export interface ApiOperation {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Below the prefix, with parameters as `:name`. */
  readonly path: string
}

/** The command's words are the action's name: `merchant.add` is `merchant add`. */
export interface ActionCommand {
  /** Input fields that are arguments instead of options, after the parameters. */
  readonly arguments?: readonly string[]
  /** Options without a value, by name, for `read`. */
  readonly flags?: Readonly<Record<string, string>>
  /** Fields that `read` produces. */
  readonly omits?: readonly string[]
  readonly read?: (raw: RawInput) => RawInput
  /** In addition to the required fields of the input. */
  readonly required?: readonly string[]
  /** The columns of a list that is too wide for a line. */
  readonly columns?: readonly string[]
  readonly help?: string
}

/** A form of the console. `Subject` is what its place shows, such as a merchant. */
export interface ActionForm<Subject = never> {
  /** A page shows all forms of its place. */
  readonly place: string
  /** Where the form is sent; by default its page and the action's verb. */
  readonly path: string
  /** The page that shows the form, with parameters as `:name`. */
  readonly page: string
  /** The label of the collapsed form. */
  readonly label: string
  /** The explanation of the effect. */
  readonly explains: string | ((subject: Subject) => string)
  readonly button: string | ((subject: Subject) => string)
  readonly isDangerous?: true
  /** The shown fields, in order; by default all of the input. */
  readonly fields?: readonly string[]
  /** Hidden fields, whose values the page shows. */
  readonly hidden?: readonly string[]
  readonly fixed?: Readonly<Record<string, string>>
  /** In addition to the required fields of the input. */
  readonly required?: readonly string[]
  readonly isOffered?: (subject: Subject, at: { readonly nowMs: number; readonly login: string }) => boolean
  readonly read?: (raw: RawInput) => RawInput
  /** Requires password and code again. */
  readonly needsConfirmation?: true
  /** For fields elsewhere on the page. */
  readonly formId?: string
}

/**
 * A screen of the merchants' portal. The merchant always comes from the session, and the portal has its own texts in
 * its languages.
 */
export interface PortalForm
  extends Pick<
    ActionForm,
    'fields' | 'hidden' | 'fixed' | 'required' | 'read' | 'needsConfirmation' | 'isDangerous'
  > {
  /** The member roles that may run it. */
  readonly roles: readonly MemberRole[]
  /** The key of its texts. */
  readonly name: string
  /** The path below the portal's prefix, with parameters other than the merchant as `:name`. */
  readonly path: string
  /** The page to return to. */
  readonly page: string
  /** The page that shows what was made, unless it is the one to go back to. Parameters come from the answer, too. */
  readonly after?: string
}

export interface Action {
  /** As in the audit log. */
  readonly name: string
  readonly summary: string
  /** What it can do to money. A second operator must approve it if the settings cover one of these effects. */
  readonly effects: readonly Effect[]
  /** Runs without approval on the machine itself, so that an installation without a second operator can create one. */
  readonly isRecovery: boolean
  /** The scope that a token needs; undefined for any token, or if there is no route. */
  readonly scope: Scope | undefined
  readonly needs: Role
  /** The target: in the API's path, and an argument of the command. */
  readonly params: TObject | undefined
  /** Query or body of the API, options of the command, fields of the form. */
  readonly input: TObject | undefined
  /** A file is sent without the JSON envelope. */
  readonly answer: TObject | FileType
  /** Runs once per id: the Idempotency-Key header or the form's number. */
  readonly isOnce: boolean
  /** The API's body, the command's first argument, or the form's file. */
  readonly takesFile: boolean
  readonly api?: ApiOperation | undefined
  readonly command?: ActionCommand | undefined
  readonly forms: readonly ActionForm[]
  readonly portal: readonly PortalForm[]
  /** Checks beyond the schema, by field. They throw, so that a form shows all errors at once. */
  readonly checks: Readonly<Record<string, (given: Readonly<Record<string, unknown>>) => void>>
  /** Handles a secret that the approver must not see completely; undefined if the action creates no secret. */
  readonly prepare: ((call: ActionCall) => Prepared | undefined) | undefined
  /** Input and parameters that a waiting request stores, so that it runs only if nothing has changed. */
  readonly pin: ((call: ActionCall) => Promise<Readonly<Record<string, unknown>>>) | undefined
  readonly run: (call: ActionCall) => Promise<unknown>
  /** Runs the action for a member, whose context is limited to their merchant. */
  readonly runForMember: ((call: SharedCall) => Promise<unknown>) | undefined
  readonly reply: ((answer: unknown, given: Given<unknown, unknown>) => Reply) | undefined
}

interface Given<Params, Input> {
  readonly params: Params
  readonly input: Input
}

type Checked<Schema> = Schema extends TSchema ? Static<Schema> : undefined

type Pinned<Schema> = Schema extends TSchema ? Partial<Static<Schema>> : unknown

interface ActionGiven<Params, Input, Answer extends TObject | FileType, Call> {
  readonly name: string
  readonly summary: string
  /** By default, the effects of the audited action with this name. */
  readonly effects?: readonly Effect[]
  readonly isRecovery?: true
  readonly scope?: Scope
  /** If there is no scope. */
  readonly needs?: Role
  readonly params?: Params
  readonly input?: Input
  readonly answer: Answer
  readonly isOnce?: true
  readonly takesFile?: true
  /** It calls `confirm` itself, after reading what the confirmation is for. */
  readonly confirmsItself?: true
  /** If the path does not follow from the name and the parameters. */
  readonly apiPath?: string
  /** False if the command line does not have it. */
  readonly command?: ActionCommand | false
  readonly form?: FormGiven
  /** If it has several. */
  readonly forms?: readonly FormGiven[]
  readonly checks?: Action['checks']
  readonly pin?: (
    call: ActionCall<Checked<Params>, Checked<Input>>,
  ) => Promise<Pinned<Input> & Pinned<Params>>
  readonly prepare?: (
    call: ActionCall<Checked<Params>, Checked<Input>>,
  ) => Prepared<Partial<Checked<Input>>> | undefined
  readonly run: (
    call: Call,
  ) => Promise<Answer extends TSchema ? Answered<Static<Answer>> : AsyncIterable<string>>
  readonly reply?: (answer: Checked<Answer>, given: Given<Checked<Params>, Checked<Input>>) => Reply
}

/** Checks the types of `run` and `reply` against the schemas. */
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
    async run(call) {
      if (!given.confirmsItself) await call.confirm?.()
      // Safe: every adapter validates with these schemas before the call.
      return answerOf(given.answer, await (given.run as Action['run'])(call))
    },
    runForMember: undefined,
    reply: given.reply as Action['reply'],
  }
}

/** An action that members may also run within their own merchant. */
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
  const portal = given.portal.map((each) => withPath(each, given.name))
  // Safe: `run` takes the calls of operators and of members.
  return { ...action, portal, runForMember: action.run as Action['runForMember'] }
}

/** Throws if the action is neither audited nor read-only, because its effects on money must be declared. */
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

/**
 * `payout.cancel` of a merchant is POST /merchants/:merchantId/payouts/:payoutId/cancel. An action without a scope has
 * no route.
 */
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

/** Irregular plurals. */
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

/** Gives the functions of a form the type of their subject. */
export function form<Subject>(given: FormGiven<Subject>): FormGiven {
  return given
}
