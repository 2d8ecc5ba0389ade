// The console's view of the actions: renders each form in its place, and runs the action when the form is sent.
import { randomBytes } from 'node:crypto'
import { Failure, makeUuid, uuidPattern } from '@tillgate/protocol'
import type { TSchema } from 'typebox'
import type { Action, ActionForm, GivenFile, RawInput, Reply } from '../../actions/action.ts'
import { notifyWaiting } from '../../actions/approvals/approval-actions.ts'
import { displayOf, labelOf } from '../../actions/fields.ts'
import { nameInForm, readInput, typedIn } from '../../actions/read-input.ts'
import { runAction } from '../../actions/running/run-action.ts'
import { confirm, confirmFieldNames, confirmFields } from '../kit/accounts/confirm.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { errorOf } from '../kit/forms/refused-form.ts'
import { maxFileBytes, type SentForm, tooLargeFile } from '../kit/forms/uploads.ts'
import { type Html, html } from '../kit/html.ts'
import { filledPath } from '../kit/routes.ts'
import type { ConsoleAct, ConsolePage, Done, Visit } from './console.ts'
import { foldedForm } from './forms.ts'
import type { AreaName } from './navigation.ts'
import { suggestionsOf } from './suggestions.ts'

type Values = Readonly<Record<string, string | undefined>>

/** Every form of the place for this subject, filled with `values`. `opened`: the action whose form is open. */
export function actionForms(
  visit: Visit,
  place: string,
  {
    subject,
    values = {},
    opened,
  }: { readonly subject?: unknown; readonly values?: Values; readonly opened?: string | undefined } = {},
): Html | undefined {
  const { nowMs, account } = visit
  const shown = visit.catalog.flatMap((action) =>
    action.forms
      .filter((form) => form.place === place)
      // Safe, here and below: a place is about one kind of thing, and its page passes that.
      .filter((form) => form.isOffered?.(subject as never, { nowMs, login: account.login }) ?? true)
      .map(
        (form) =>
          actionForm(visit, action, { form, subject, values, isOpened: action.name === opened }) ?? [],
      ),
  )
  const forms = shown.flat()
  return forms.length === 0 ? undefined : html`<div class="acts">${forms}</div>`
}

function actionForm(
  visit: Visit,
  action: Action,
  {
    form,
    subject,
    values,
    isOpened,
  }: { form: ActionForm; subject: unknown; values: Values; isOpened: boolean },
): Html | undefined {
  const { refused } = visit
  const target = filledPath(form.path, values)
  const hidden = form.hidden ?? []
  const isRefused =
    refused?.action === target &&
    hidden.every((name) => (values[name] ?? '') === (refused.typed.get(name) ?? ''))
  const of = isRefused ? visit : { ...visit, refused: undefined }
  const say = (text: ActionForm['button']) => (typeof text === 'string' ? text : text(subject as never))
  return foldedForm(visit, {
    needs: action.needs,
    action: target,
    label: form.label,
    explains: say(form.explains),
    button: say(form.button),
    isDangerous: form.isDangerous,
    isOpen: isRefused || isOpened,
    formId: form.formId,
    takesFile: action.takesFile,
    fields: html`${action.takesFile && html`<label>File<input type="file" name="file" required></label>`}${hidden.map((name) => values[name] !== undefined && html`<input type="hidden" name="${name}" value="${values[name]}">`)}${
      action.isOnce && html`<input type="hidden" name="formId" value="${makeUuid(visit.nowMs, randomBytes)}">`
    }${shownFields(action, form).map(([name, schema]) => inputOf(of, { name, schema, target, values, action, form }))}${
      form.needsConfirmation && confirmFields(of, target)
    }`,
  })
}

function shownFields(
  { input }: Action,
  { fields, hidden = [], fixed = {} }: ActionForm,
): [string, TSchema][] {
  const all = Object.entries(input?.properties ?? {})
  if (fields) return all.filter(([name]) => fields.includes(name))
  return all.filter(
    ([name, schema]) => displayOf(schema).only === undefined && !hidden.includes(name) && !(name in fixed),
  )
}

function inputOf(
  visit: Visit,
  field: { name: string; schema: TSchema; target: string; values: Values; action: Action; form: ActionForm },
): Html {
  const { name, schema, target, values, action, form } = field
  const { label, choices, initial, kind, placeholder, suggests } = displayOf(schema)
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
  const offered = typeof choices === 'function' ? choices(visit.account.role) : choices
  const isList = type === 'array'
  return fieldOf({
    name,
    label: labelOf(name, schema),
    hint:
      label === undefined
        ? `${description?.replaceAll('`', '')}${isList && !offered ? (kind === 'lines' ? ' One on each line.' : ' Separated by commas.') : ''}`
        : undefined,
    value: (typed ? typed.get(name) : values[name]) ?? initial,
    isRequired: Boolean(action.input?.required?.includes(name) || form.required?.includes(name)),
    kind,
    choices: offered ?? all?.map((each) => [each, each] as const),
    ticked: isList && offered ? (typed?.getAll(name) ?? values[name]?.split(',') ?? []) : undefined,
    attributes: html`${type === 'integer' && html` inputmode="numeric"`}${name === 'amount' && html` inputmode="decimal"`}${
      maxLength !== undefined && html` maxlength="${maxLength}"`
    }${suggests !== undefined && !isList && suggestionsOf(suggests)}${placeholder !== undefined && html` placeholder="${kind === 'lines' ? placeholder.replaceAll(', ', '\n') : placeholder}"`}${kind !== 'long' && html` autocomplete="off" autocapitalize="none" spellcheck="false"`}`,
    error: errorOf(visit, name, target),
  })
}

/** The routes of all action forms in the console. */
export function actionRoutes(catalog: readonly Action[]): readonly ConsoleAct[] {
  return catalog.flatMap((action) =>
    action.forms.map((form) => ({
      path: form.path,
      needs: action.needs,
      fields: [
        ...shownFields(action, form).map(([name]) => name),
        ...(form.needsConfirmation ? confirmFieldNames : []),
      ],
      page: form.page,
      ...(action.takesFile && { takesFile: true }),
      act: (visit: Visit, typed: URLSearchParams, files: SentForm['files']) =>
        doAction(visit, typed, { action, form, files }),
    })),
  )
}

async function doAction(
  visit: Visit,
  typed: URLSearchParams,
  { action, form, files }: { action: Action; form: ActionForm; files: SentForm['files'] },
): Promise<Done> {
  const names = [
    ...shownFields(action, form).map(([name]) => name),
    ...(form.hidden ?? []),
    ...elsewhere(action, form),
  ]
  const raw: RawInput = {
    ...Object.fromEntries(names.map((name) => [name, typedIn(typed, name, action.input?.properties[name])])),
    ...form.fixed,
    ...visit.params,
  }
  const { params, input, errors } = readInput(action, form.read?.(raw) ?? raw, {
    required: form.required,
    nameOf: nameInForm(action),
  })
  if (errors.length > 0) return { kind: 'refused', errors }
  const { operations, account, actor, nowMs } = visit
  const idempotencyKey = action.isOnce
    ? await idempotencyKeyOf(visit, typed, { action, params, input })
    : undefined
  const file = action.takesFile ? fileOf(files) : undefined
  const ran = await runAction(action, {
    operations,
    operator: account,
    actor,
    nowMs,
    params,
    input,
    idempotencyKey,
    file,
    ...(form.needsConfirmation && { confirm: () => confirm(visit, typed) }),
  })
  const reply: Reply =
    ran.kind === 'waiting'
      ? { ...notifyWaiting(ran.request), ...(ran.secrets && { secrets: ran.secrets }) }
      : (action.reply?.(ran.answer, { params, input }) ?? { text: 'Done.' })
  if (reply.secrets) return { kind: 'shown_once', page: secretPage(reply, visit) }
  return { kind: 'go', to: reply.page, flash: reply.text }
}

function fileOf(files: SentForm['files']): GivenFile {
  const file = files.get('file')
  if (!file) throw new Failure('invalid_field', { field: 'file', message: 'Choose a file.' })
  if (file.isTooLarge) throw tooLargeFile(maxFileBytes)
  return {
    name: file.fileName || 'sent by the console',
    async *open() {
      yield* file.chunks
    },
  }
}

/** Fields elsewhere on the page, tied to the form by its id. */
function elsewhere({ input }: Action, { formId, fields = [] }: ActionForm): string[] {
  return formId === undefined
    ? []
    : Object.keys(input?.properties ?? {}).filter((name) => !fields.includes(name))
}

/**
 * `formId` is generated with the form and is this operator's idempotency key: the action runs once, however often the
 * form is sent. The same id with other content is rejected, so that no operator believes that a changed amount has
 * moved.
 */
async function idempotencyKeyOf(
  { account, operations }: Visit,
  typed: URLSearchParams,
  { action, params, input }: { action: Action; params: unknown; input: object | undefined },
): Promise<string> {
  const formId = typed.get('formId') ?? ''
  if (!uuidPattern.test(formId))
    throw new Failure('invalid_field', { message: 'Reload the page and try again.' })
  const content = JSON.stringify([action.name, params, { ...input, reason: undefined }])
  const idempotencyKey = await operations.idempotencyKeyOf({
    login: account.login,
    key: `form ${formId}`,
    content,
  })
  if (idempotencyKey !== undefined) return idempotencyKey
  throw new Failure('number_already_used', {
    message:
      'This form was already sent with other values. Nothing was changed. Reload the page and try again.',
  })
}

function secretPage({ text, secrets = [], block, page }: Reply, { url }: Visit): ConsolePage {
  const to = page ?? url
  return {
    title: text.split('. ')[0]?.replace(/\.$/, '') ?? text,
    // Safe: the first part of a console path is its area.
    area: to.split('/')[1] as AreaName,
    content: html`<p>${text}</p>
<p><strong>Copy this value now. It is shown only once.</strong></p>
${secrets.map(([label, value]) => html`<p>${label}</p><p class="secret"><code>${value}</code></p>`)}
${block !== undefined && html`<pre tabindex="0" aria-label="Details">${block.trimEnd()}</pre>`}
<p class="acts"><a class="button" href="${to}">Done</a></p>`,
  }
}
