/** Activation: what there is, put together. */
import * as vscode from 'vscode';
import * as commands from './commands';
import * as cursor from './cursor';
import { NextEdits } from './nextEdit';
import * as refactor from './refactor';
import { Server } from './server';
import * as settings from './settings';
import { Status } from './status';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const status = new Status(offHere);
  const server = new Server(context, status);
  context.subscriptions.push(
    status,
    server,
    new NextEdits(() => server.client),
    commands.register(server),
    refactor.register(context, server),
    cursor.follow(() => server.client),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.start()),
    vscode.window.onDidChangeActiveTextEditor(() => status.draw()),
    vscode.workspace.onDidChangeConfiguration((event) => configured(event, server)),
  );
  await server.start();
}

function configured(event: vscode.ConfigurationChangeEvent, server: Server): void {
  server.status.draw();
  if (event.affectsConfiguration('mercury.server.path')) {
    void server.restart();
  }
}

/** Why nothing is suggested in the editor at hand. */
function offHere(): string | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (!settings.suggestionsEnabled(document)) {
    return 'Switched off in this workspace';
  }
  if (document !== undefined && !settings.languageEnabled(document.languageId)) {
    return `Switched off for ${document.languageId}`;
  }
  return document !== undefined && settings.excluded(document) ? 'Off here: the file is excluded' : undefined;
}
