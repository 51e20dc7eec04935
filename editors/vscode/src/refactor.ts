/** The server's refactorings in the palette: what is selected, an instruction where one is needed. Knows no way to refactor. */
import * as vscode from 'vscode';
import { Answers, type Answer } from './answers';
import type { Server } from './server';

/** Palette commands are named after the server's: `mercury.run.NAME` runs `mercury.NAME`. */
const OURS = 'mercury.run.';

/** What is asked for before a command is run. */
const ASKED: Record<string, vscode.InputBoxOptions> = {
  rewrite: { prompt: 'What is to be done with the selection?', placeHolder: 'use a dictionary' },
  ask: { prompt: 'What do you want to know about the selection?', placeHolder: 'what does this do?' },
};

export function register(context: vscode.ExtensionContext, server: Server): vscode.Disposable {
  const manifest = context.extension.packageJSON as { contributes: { commands: { command: string }[] } };
  const names = manifest.contributes.commands.map(({ command }) => command).filter((command) => command.startsWith(OURS));
  const answers = new Answers(server);
  return vscode.Disposable.from(
    ...names.map((name) => vscode.commands.registerCommand(name, () => run(server, answers, name.slice(OURS.length)))),
  );
}

async function run(server: Server, answers: Answers, name: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = server.client;
  if (editor === undefined || client === undefined) {
    return;
  }
  const asked = ASKED[name];
  const said = asked === undefined ? '' : await vscode.window.showInputBox(asked);
  if (said === undefined) {
    return; // Escape
  }
  const place = {
    uri: client.code2ProtocolConverter.asUri(editor.document.uri),
    range: client.code2ProtocolConverter.asRange(editor.selection),
  };
  const answer = await server.execute<Answer>(`mercury.${name}`, { ...place, instruction: said });
  if (answer?.answer !== undefined) {
    await answers.show(answer, place);
  }
}
