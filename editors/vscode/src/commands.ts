/** The commands of the palette and of the status bar's menu, but for those of next edits. */
import * as os from 'node:os';
import * as vscode from 'vscode';
import type { Server } from './server';
import * as settings from './settings';

interface Action extends vscode.QuickPickItem {
  run: () => unknown;
}

export function register(server: Server): vscode.Disposable {
  const commands: Record<string, () => unknown> = {
    'mercury.menu': () => menu(server),
    'mercury.toggle': () => settings.toggleWorkspace(),
    'mercury.toggleLanguage': () => toggleLanguage(),
    'mercury.restart': () => server.restart(),
    'mercury.install': () => server.install(),
    'mercury.pull': () => pull(server),
    'mercury.showOutput': () => server.output.show(true),
    'mercury.refactor': () => vscode.commands.executeCommand('editor.action.refactor'),
  };
  return vscode.Disposable.from(...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)));
}

async function menu(server: Server): Promise<void> {
  await server.ask();
  const chosen = await vscode.window.showQuickPick(actions(server), { title: `Mercury: ${server.status.text}` });
  await chosen?.run();
}

function actions(server: Server): Action[] {
  const language = vscode.window.activeTextEditor?.document.languageId;
  const kind = server.status.state.kind;
  const found: Action[] = [];
  if (kind === 'untrusted') {
    found.push({ label: '$(shield) Trust this workspace', run: () => vscode.commands.executeCommand('workbench.trust.manage') });
  }
  if (kind === 'missing') {
    found.push({ label: '$(cloud-download) Install the server', run: () => server.install() });
    found.push({ label: '$(gear) Name the program', run: () => openSetting('mercury.server.path') });
  }
  if (kind === 'error') {
    found.push({ label: '$(cloud-download) Fetch the model', run: () => pull(server) });
  }
  const on = settings.suggestionsEnabled();
  found.push({ label: on ? '$(circle-slash) Switch off in this workspace' : '$(check) Switch on in this workspace', run: settings.toggleWorkspace });
  if (language !== undefined) {
    const there = settings.languageEnabled(language);
    found.push({ label: `${there ? '$(circle-slash) Switch off' : '$(check) Switch on'} for ${language}`, run: toggleLanguage });
  }
  found.push({ label: '$(debug-restart) Restart the server', run: () => server.restart() });
  found.push({ label: '$(output) Show output', run: () => server.output.show(true) });
  found.push({ label: '$(gear) Settings', run: () => openSetting('mercury.') });
  return found;
}

function openSetting(query: string): Thenable<unknown> {
  return vscode.commands.executeCommand('workbench.action.openSettings', query);
}

async function toggleLanguage(): Promise<void> {
  const language = vscode.window.activeTextEditor?.document.languageId;
  if (language !== undefined) {
    await settings.toggleLanguage(language);
  }
}

/** As a task, whose terminal has the program's progress bar and stays where it failed; the server looks again when it is done. */
async function pull(server: Server): Promise<void> {
  const program = server.program();
  if (program === undefined) {
    return server.install();
  }
  const process = new vscode.ProcessExecution(program, ['pull'], { cwd: os.homedir() }); // there may be no folder
  const task = new vscode.Task({ type: 'process' }, vscode.TaskScope.Global, 'fetch the model', 'Mercury', process, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, echo: false, showReuseMessage: false };
  const execution = await vscode.tasks.executeTask(task);
  const ending = vscode.tasks.onDidEndTaskProcess((ended) => {
    if (ended.execution !== execution) {
      return;
    }
    ending.dispose();
    if (ended.exitCode === 0) {
      void server.restart();
    } else {
      void vscode.window.showErrorMessage('Mercury: the model could not be fetched. The terminal says why.');
    }
  });
}
