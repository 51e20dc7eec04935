/** The language client: which documents it speaks of, what it asks and when not, what it says of its state. Knows no decoration. */
import * as vscode from 'vscode';
import type {
  DynamicFeature,
  LanguageClientOptions,
  Middleware,
  ProgressToken,
  ResponseError,
  ShowDocumentParams,
  ShowDocumentRequest,
  ShowDocumentResult,
  StaticFeature,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from 'vscode-languageclient';
import { LanguageClient } from 'vscode-languageclient/node';
import type { Canvas } from './canvas';
import * as settings from './settings';
import type { Status, Told } from './status';

const SCHEMES = ['file', 'untitled', 'vscode-notebook-cell'];
const ERROR = 1;
const WARNING = 2;
type Progress = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

const ANSWER = 'mercury-answer:';
const EXECUTE = 'workspace/executeCommand';
const STATUS = 'mercury/status';

/** Makes the server tell what becomes of it, instead of showing a message. */
const tellsStatus: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), mercuryStatus: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

/** The server lists commands of another extension's names, for other editors; to register those here could collide with it. */
class Client extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    const method = 'registrationType' in feature ? feature.registrationType.method : undefined;
    if (method !== EXECUTE) {
      super.registerFeature(feature);
    }
  }
}

export function create(command: string, output: vscode.LogOutputChannel, status: Status, canvas: Canvas): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: SCHEMES.map((scheme) => ({ scheme })),
    synchronize: { configurationSection: settings.SECTION },
    outputChannel: output,
    middleware: middleware(status),
  };
  const client = new Client(settings.SECTION, 'Mercury', { command, options: { shell: false } }, options);
  client.registerFeature(canvas.feature);
  client.registerFeature(tellsStatus);
  canvas.listen(client);
  client.onNotification(STATUS, (told: Told) => status.told(told));
  client.onNotification('window/showMessage', (message: { type: number; message: string }) => said(message, status));
  return client;
}

/** What the server says of itself when it is asked; an older one says nothing. What it did not load is known better here. */
export async function catchUp(client: LanguageClient, status: Status): Promise<void> {
  const told = await client.sendRequest<Told>(STATUS).catch(() => undefined);
  if (told !== undefined && ['starting', 'ready', 'warning'].includes(status.state.kind)) {
    status.told(told);
  }
}

/** Have the server ask for the settings again: some of what it is told stands elsewhere than in its section. */
export function tellSettings(client: LanguageClient): Promise<void> {
  return client.sendNotification('workspace/didChangeConfiguration', { settings: null });
}

/** Run the server's own commands by name: accepted items and code actions carry them. */
export function registerCommands(client: LanguageClient): vscode.Disposable {
  const commands = client.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
  const ours = commands.filter((command) => command.startsWith('mercury.'));
  const send = (command: string) => (...args: unknown[]) => client.sendRequest(EXECUTE, { command, arguments: args });
  return vscode.Disposable.from(...ours.map((command) => vscode.commands.registerCommand(command, send(command))));
}

function said(message: { type: number; message: string }, status: Status): void {
  if (message.type === ERROR) {
    status.state = { kind: 'error', message: message.message };
    void showError(message.message);
  } else if (message.type === WARNING) {
    void vscode.window.showWarningMessage(message.message);
  } else {
    void vscode.window.showInformationMessage(message.message);
  }
}

/** With a button where what mends it is a command of ours: the message names the one to be typed in a terminal. */
async function showError(message: string): Promise<void> {
  const fetching = 'Fetch the Model';
  const buttons = message.includes('mercury-lsp pull') ? [fetching] : [];
  if ((await vscode.window.showErrorMessage(message, ...buttons)) === fetching) {
    await vscode.commands.executeCommand('mercury.pull');
  }
}

function middleware(status: Status): Middleware {
  return {
    provideInlineCompletionItems: async (document, position, context, token, next) => {
      return settings.wanted(document) ? status.during(Promise.resolve(next(document, position, context, token))) : null;
    },
    didOpen: async (document, next) => (settings.excluded(document) ? undefined : next(document)),
    handleWorkDoneProgress: (token, params, next) => {
      progressed(token, params, status);
      next(token, params);
    },
    window: { showDocument },
    workspace: {
      configuration: async (params, token, next) => {
        const found = await next(params, token);
        return Array.isArray(found) ? found.map(settings.forServer) : found;
      },
    },
  };
}

/** An answer is shown beside what it is about. */
async function showDocument(
  params: ShowDocumentParams,
  token: vscode.CancellationToken,
  next: ShowDocumentRequest.HandlerSignature,
): Promise<ShowDocumentResult | ResponseError> {
  if (!params.uri.startsWith(ANSWER)) {
    return next(params, token);
  }
  const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(params.uri));
  await vscode.window.showTextDocument(document, options);
  return { success: true };
}

/** Of what is going on only loading is for the status; commands have a bar of their own. What failed is in the message of the end. */
function progressed(token: ProgressToken, params: Progress, status: Status): void {
  if (params.kind === 'begin' && params.title.startsWith('Loading')) {
    status.loading = { token, title: params.title };
  }
  const { loading } = status;
  if (loading?.token !== token) {
    return;
  }
  if (params.kind === 'end') {
    status.loading = undefined;
    status.state = params.message === undefined ? { kind: 'ready' } : { kind: 'error', message: params.message };
  } else {
    status.state = { kind: 'loading', what: loading.title, percent: params.percentage };
  }
}
