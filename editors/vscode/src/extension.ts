/** Activation: what there is, put together. */
import * as vscode from 'vscode';
import { tellSettings } from './client';
import * as commands from './commands';
import * as cursor from './cursor';
import { NextEdits } from './nextEdit';
import * as refactor from './refactor';
import { Server } from './server';
import * as settings from './settings';
import { Status } from './status';

const WELCOMED = 'mercury.welcomed';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const status = new Status(offHere);
  const server = new Server(context, status);
  context.subscriptions.push(
    status,
    server,
    new NextEdits(() => server.client),
    cursor.follow(() => server.client),
    commands.register(server),
    refactor.register(context, server),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.start()),
    vscode.window.onDidChangeActiveTextEditor(() => status.draw()),
    vscode.workspace.onDidChangeConfiguration((event) => configured(event, server)),
  );
  await welcome(context);
  await server.start();
}

/** The walkthrough on the first start, unless the user wants none of any extension. */
async function welcome(context: vscode.ExtensionContext): Promise<void> {
  const wanted = vscode.workspace.getConfiguration('workbench.welcomePage.walkthroughs').get('openOnInstall', true);
  if (wanted && context.globalState.get(WELCOMED) === undefined) {
    await context.globalState.update(WELCOMED, true);
    void vscode.commands.executeCommand('workbench.action.openWalkthrough', `${context.extension.id}#start`, false);
  }
}

function configured(event: vscode.ConfigurationChangeEvent, server: Server): void {
  server.status.draw();
  if (event.affectsConfiguration('mercury.server.path')) {
    void server.restart();
  } else if (event.affectsConfiguration('files.exclude') && server.client !== undefined) {
    void tellSettings(server.client);
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
