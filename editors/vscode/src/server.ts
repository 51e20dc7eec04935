/** The server's life: found, started, installed, restarted. Knows no suggestion. */
import * as vscode from 'vscode';
import { State } from 'vscode-languageclient';
import type { LanguageClient } from 'vscode-languageclient/node';
import { Canvas } from './canvas';
import { catchUp, create, registerCommands } from './client';
import { find } from './find';
import { install } from './install';
import { Status } from './status';

export class Server implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel('Mercury', { log: true });
  private readonly canvas = new Canvas();
  private commands: vscode.Disposable | undefined;
  private running: LanguageClient | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly status: Status,
  ) {}

  /** The client, once the server has answered its first request. */
  get client(): LanguageClient | undefined {
    return this.running?.state === State.Running ? this.running : undefined;
  }

  program(): string | undefined {
    return find(this.context);
  }

  /** Run a command of the server's on an object; undefined where the server does not know it, or cannot. */
  async execute<T>(command: string, argument: object): Promise<T | undefined> {
    const client = this.client;
    const offered = client?.initializeResult?.capabilities.executeCommandProvider?.commands ?? [];
    if (client === undefined || !offered.includes(command)) {
      void vscode.window.showWarningMessage(`Mercury: this server does not know ${command}; a newer one may.`);
      return undefined;
    }
    try {
      return await this.status.during(client.sendRequest<T>('workspace/executeCommand', { command, arguments: [argument] }));
    } catch (error) {
      this.output.error(`${command}: ${String(error)}`);
      return undefined;
    }
  }

  async start(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      this.status.state = { kind: 'untrusted' };
      return;
    }
    const program = this.program();
    if (program === undefined) {
      this.status.state = { kind: 'missing' };
      void this.offer();
      return;
    }
    this.status.state = { kind: 'starting' };
    this.output.info(`starting ${program}`);
    const client = (this.running = create(program, this.output, this.status, this.canvas));
    client.onDidChangeState(({ newState }) => this.changed(newState));
    try {
      await client.start();
      this.commands = registerCommands(client);
      await catchUp(client, this.status);
    } catch (error) {
      this.status.state = { kind: 'error', message: `The server did not start: ${String(error)}` };
    }
  }

  /** Once a session: after that the status bar says it. */
  private async offer(): Promise<void> {
    const installing = 'Install it';
    const naming = 'Name the program';
    const chosen = await vscode.window.showWarningMessage('Mercury: the program mercury-lsp was not found.', installing, naming);
    if (chosen === installing) {
      await this.install();
    } else if (chosen === naming) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'mercury.server.path');
    }
  }

  /** Have the status say what the server says of itself now. */
  async ask(): Promise<void> {
    if (this.client !== undefined) {
      await catchUp(this.client, this.status);
    }
  }

  async install(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      await vscode.commands.executeCommand('workbench.trust.manage');
      return;
    }
    if (await install(this.context, this.output)) {
      await this.restart();
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  private changed(state: State): void {
    const up = state === State.Running;
    void vscode.commands.executeCommand('setContext', 'mercury.running', up);
    if (up && ['starting', 'stopped'].includes(this.status.state.kind)) {
      this.status.state = { kind: 'ready' };
    } else if (state === State.Stopped && this.status.state.kind !== 'error') {
      this.status.state = { kind: 'stopped' };
    }
  }

  private async stop(): Promise<void> {
    const client = this.running;
    this.running = undefined;
    this.commands?.dispose();
    await client?.dispose().catch(() => undefined); // it may have died already
  }

  dispose(): void {
    void this.stop();
    this.canvas.dispose();
    this.output.dispose();
  }
}
