// The console's side of the acts: each form as its place on a page shows it, and what happens when it is sent.
import { randomBytes } from 'node:crypto'
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import type { TSchema } from 'typebox'
import type { Act, FormFace, GivenFile, RawInput, Told } from '../../actions/action.ts'
import { tellWaiting } from '../../actions/approvals/approval-actions.ts'
import { faceOf, labelOf } from '../../actions/fields.ts'
import { nameInForm, readInput, typedIn } from '../../actions/read-input.ts'
import { runAct } from '../../actions/running/run-act.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { maxFileBytes, type SentForm, tooLargeFile } from '../kit/forms/uploads.ts'
import { type Html, html } from '../kit/html.ts'
import type { ConsoleAct, ConsolePage, Done, Visit } from './console.ts'
import { errorOf, foldedForm } from './forms.ts'
import type { AreaName } from './navigation.ts'
import { demandProof, proofFields } from './proof.ts'

type Values = Readonly<Record<string, string | undefined>>

/** Every form of the place that is offered for this subject; `values` are of its parameters and fields. */
export function actForms(
  visit: Visit,
  place: string,
  { subject, values = {} }: { readonly subject?: unknown; readonly values?: Values } = {},
): Html | undefined {
  const { nowMs, operator } = visit
  const shown = visit.catalogue.flatMap((act) =>
    act.forms
      .filter((form) => form.place === place)
      // Safe, here and below: a place is about one kind of thing, and its page passes that.
      .filter((form) => form.isOffered?.(subject as never, { nowMs, login: operator.login }) ?? true)
      .map((form) => actForm(visit, act, { form, subject, values }) ?? []),
  )
  const forms = shown.flat()
  return forms.length === 0 ? undefined : html`<div class="acts">${forms}</div>`
}

function actForm(
  visit: Visit,
  act: Act,
  { form, subject, values }: { form: FormFace; subject: unknown; values: Values },
): Html | undefined {
  const { refused, operator } = visit
  const action = fill(form.path, values)
  const hidden = form.hidden ?? []
  const isRefused =
    refused?.action === action &&
    hidden.every((name) => (values[name] ?? '') === (refused.typed.get(name) ?? ''))
  const of = isRefused ? visit : { ...visit, refused: undefined }
  const say = (text: FormFace['button']) => (typeof text === 'string' ? text : text(subject as never))
  return foldedForm(visit, {
    needs: act.needs,
    action,
    label: form.label,
    explains: say(form.explains),
    button: say(form.button),
    isDangerous: form.isDangerous,
    isOpen: isRefused,
    formId: form.formId,
    takesFile: act.takesFile,
    fields: html`${act.takesFile && html`<label>File<input type="file" name="file" required></label>`}${hidden.map((name) => values[name] !== undefined && html`<input type="hidden" name="${name}" value="${values[name]}">`)}${
      act.isOnce && html`<input type="hidden" name="formId" value="${makeUuid(visit.nowMs, randomBytes)}">`
    }${shownFields(act, form).map(([name, schema]) => inputOf(of, { name, schema, action, values, act, form }))}${
      form.wantsProof && proofFields(of, operator, action)
    }`,
  })
}

function shownFields({ input }: Act, { fields, hidden = [], fixed = {} }: FormFace): [string, TSchema][] {
  const all = Object.entries(input?.properties ?? {})
  if (fields) return all.filter(([name]) => fields.includes(name))
  return all.filter(
    ([name, schema]) => faceOf(schema).only === undefined && !hidden.includes(name) && !(name in fixed),
  )
}

function inputOf(
  visit: Visit,
  field: { name: string; schema: TSchema; action: string; values: Values; act: Act; form: FormFace },
): Html {
  const { name, schema, action, values, act, form } = field
  const { label, choices, initial, kind, placeholder } = faceOf(schema)
  const {
    type,
    enum: all,
    maxLength,
    description,
  } = schema as {
    type?: string
    enum?: readonly string[]
    maxLength?: number
    description?: string
  }
  const typed = visit.refused?.typed
  const offered = typeof choices === 'function' ? choices(visit.operator.role) : choices
  const isList = type === 'array'
  return fieldOf({
    name,
    label: labelOf(name, schema),
    hint:
      label === undefined
        ? `${description?.replaceAll('`', '')}${isList && !offered ? (kind === 'lines' ? ' One on each line.' : ' Separated by commas.') : ''}`
        : undefined,
    value: (typed ? typed.get(name) : values[name]) ?? initial,
    isRequired: Boolean(act.input?.required?.includes(name) || form.required?.includes(name)),
    kind,
    choices: offered ?? all?.map((each) => [each, each] as const),
    ticked: isList && offered ? (typed?.getAll(name) ?? values[name]?.split(',') ?? []) : undefined,
    attributes: html`${type === 'integer' && html` inputmode="numeric"`}${name === 'amount' && html` inputmode="decimal"`}${
      maxLength !== undefined && html` maxlength="${maxLength}"`
    }${placeholder !== undefined && html` placeholder="${kind === 'lines' ? placeholder.replaceAll(', ', '\n') : placeholder}"`}${kind !== 'long' && html` autocomplete="off" autocapitalize="none" spellcheck="false"`}`,
    error: errorOf(visit, action, name),
  })
}

/** Everything that the console takes by forms of acts. */
export function actRoutes(catalogue: readonly Act[]): readonly ConsoleAct[] {
  return catalogue.flatMap((act) =>
    act.forms.map((form) => ({
      path: form.path,
      needs: act.needs,
      fields: [
        ...shownFields(act, form).map(([name]) => name),
        ...(form.wantsProof ? ['password', 'code'] : []),
      ],
      back: (visit: Visit, typed: URLSearchParams) =>
        fill(form.page, { ...Object.fromEntries(typed), ...visit.params }),
      takesFile: act.takesFile,
      act: (visit: Visit, typed: URLSearchParams, files: SentForm['files']) =>
        doAct(visit, typed, { act, form, files }),
    })),
  )
}

async function doAct(
  visit: Visit,
  typed: URLSearchParams,
  { act, form, files }: { act: Act; form: FormFace; files: SentForm['files'] },
): Promise<Done> {
  const names = [
    ...shownFields(act, form).map(([name]) => name),
    ...(form.hidden ?? []),
    ...elsewhere(act, form),
  ]
  const raw: RawInput = {
    ...Object.fromEntries(names.map((name) => [name, typedIn(typed, name, act.input?.properties[name])])),
    ...form.fixed,
    ...visit.params,
  }
  const { params, input, errors } = readInput(act, form.read?.(raw) ?? raw, {
    required: form.required,
    nameOf: nameInForm(act),
  })
  if (errors.length > 0) return { kind: 'refused', errors }
  const { service, operator, actor, nowMs } = visit
  const actId = act.isOnce ? await actIdOf(visit, typed, { act, params, input }) : undefined
  const file = act.takesFile ? fileOf(files) : undefined
  const ran = await runAct(act, {
    service,
    operator,
    actor,
    nowMs,
    params,
    input,
    actId,
    file,
    ...(form.wantsProof && { prove: () => demandProof(visit, typed) }),
  })
  const told: Told =
    ran.kind === 'waiting'
      ? tellWaiting(ran.request)
      : (act.tell?.(ran.answer, { params, input }) ?? { text: 'Done.' })
  if (told.secrets) return { kind: 'shown_once', page: secretPage(told, visit) }
  return { kind: 'go', to: told.page, note: told.text }
}

function fileOf(files: SentForm['files']): GivenFile {
  const file = files.get('file')
  if (!file) throw new Failure('invalid_field', { field: 'file', message: 'Choose a file.' })
  if (file.isTooLarge) throw tooLargeFile(maxFileBytes)
  return {
    name: 'sent by the console',
    async *open() {
      yield* file.chunks
    },
  }
}

/** Fields of the act that stand elsewhere on the page, tied to the form by its id. */
function elsewhere({ input }: Act, { formId, fields = [] }: FormFace): string[] {
  return formId === undefined
    ? []
    : Object.keys(input?.properties ?? {}).filter((name) => !fields.includes(name))
}

/**
 * `formId` was made with the form and counts as an Idempotency-Key of this operator: however often the form is sent, the
 * act is done once. A form that comes back changed, or for another act or subject, is refused, so that nobody is told
 * that the new amount has moved.
 */
async function actIdOf(
  { operator, service }: Visit,
  typed: URLSearchParams,
  { act, params, input }: { act: Act; params: unknown; input: object | undefined },
): Promise<string> {
  const formId = typed.get('formId') ?? ''
  if (!uuidPattern.test(formId))
    throw new Failure('invalid_field', { message: 'Load the page anew and try again.' })
  const content = JSON.stringify([act.name, params, { ...input, reason: undefined }])
  const actId = await service.apiTokens.actIdOf({ login: operator.login, key: `form ${formId}`, content })
  if (actId !== undefined) return actId
  throw new Failure('number_already_used', {
    message: 'This form was sent before, for another request. Nothing new was done. Load the page anew.',
  })
}

function secretPage({ text, secrets = [], block, page }: Told, { url }: Visit): ConsolePage {
  const to = page ?? url
  return {
    title: text.split('. ')[0]?.replace(/\.$/, '') ?? text,
    // Safe: pages of areas bear the name of theirs.
    area: to.split('/')[1] as AreaName,
    content: html`<p>${text}</p>
<p>Hand it over, or note it, now: it is not shown again.</p>
${secrets.map(([label, value]) => html`<p>${label}</p><p class="secret"><code>${value}</code></p>`)}
${block !== undefined && html`<pre tabindex="0" aria-label="What goes with it">${block.trimEnd()}</pre>`}
<p class="acts"><a class="button" href="${to}">Done</a></p>`,
  }
}

function fill(path: string, values: Values): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
