/** The edit that is likely to come next: asked for after a change, jumped to, accepted, dismissed. Draws nothing itself. */
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import type { Position, Range } from 'vscode-languageclient';
import { NextEditView, type Edit } from './nextEditView';
import * as settings from './settings';

/** Milliseconds of rest after a change: a burst of keys asks once, and a pause of a hand that types is shorter. */
const REST_MS = 250;
/** An edit as near to the cursor is accepted at once; a farther one is jumped to first. */
const NEAR_LINES = 1;

interface Answer {
  edits: {
    text: string;
    textDocument: { uri: string; version: number | null };
    range: Range;
    command: { command: string; arguments: [string] };
    label?: string;
    jump?: { uri: string; position: Position } | null;
  }[];
}

export class NextEdits implements vscode.Disposable {
  private readonly view = new NextEditView();
  private readonly listening: vscode.Disposable;
  private shown: Edit | undefined;
  private timer: NodeJS.Timeout | undefined;
  private asking: vscode.CancellationTokenSource | undefined;

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.listening = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument((event) => this.changed(event)),
      vscode.window.onDidChangeTextEditorSelection((event) => this.moved(event.textEditor)),
      vscode.window.onDidChangeActiveTextEditor(() => this.redraw()),
      vscode.commands.registerCommand('mercury.nextEdit.request', () => this.ask()),
      vscode.commands.registerCommand('mercury.nextEdit.accept', () => this.accept()),
      vscode.commands.registerCommand('mercury.nextEdit.dismiss', () => this.dismiss()),
    );
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.asking?.cancel();
    this.view.dispose();
    this.listening.dispose();
  }

  /** Ask for the edit that follows from the changes so far. */
  async ask(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const client = this.client();
    if (editor === undefined || client === undefined || settings.excluded(editor.document)) {
      return;
    }
    this.asking?.cancel();
    const asking = (this.asking = new vscode.CancellationTokenSource());
    const { document } = editor;
    const version = document.version;
    const place = {
      textDocument: { uri: client.code2ProtocolConverter.asUri(document.uri), version },
      position: client.code2ProtocolConverter.asPosition(editor.selection.active),
      context: { triggerKind: 2 },
      diagnostics: vscode.languages.getDiagnostics(document.uri).map((each) => client.code2ProtocolConverter.asDiagnostic(each)),
    };
    const answer = await client.sendRequest<Answer>('mercury/nextEdit', place, asking.token).catch(() => undefined);
    if (!asking.token.isCancellationRequested && document.version === version) {
      await this.answered(answer, client);
    }
  }

  private async answered(answer: Answer | undefined, client: LanguageClient): Promise<void> {
    const found = answer?.edits[0];
    if (found === undefined) {
      return;
    }
    const document = await vscode.workspace.openTextDocument(client.protocol2CodeConverter.asUri(found.textDocument.uri));
    if (found.textDocument.version !== null && document.version !== found.textDocument.version) {
      return;
    }
    const range = document.validateRange(client.protocol2CodeConverter.asRange(found.range));
    this.show({ document, range, text: found.text, label: found.label ?? '', id: found.command.arguments[0] });
    void client.sendNotification('textDocument/didShowInlineEdit', { item: { command: found.command } });
  }

  private show(edit: Edit): void {
    this.shown = edit;
    this.redraw();
    void vscode.commands.executeCommand('setContext', 'mercury.nextEditVisible', true);
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.asking?.cancel();
    if (this.shown !== undefined) {
      this.shown = undefined;
      this.view.clear();
      void vscode.commands.executeCommand('setContext', 'mercury.nextEditVisible', false);
    }
  }

  private redraw(): void {
    const editor = vscode.window.activeTextEditor;
    if (this.shown !== undefined) {
      const hint = editor !== undefined && !near(this.shown, editor) ? { editor, line: editor.selection.active.line } : undefined;
      this.view.draw(this.shown, hint);
    }
  }

  private moved(editor: vscode.TextEditor): void {
    if (editor === vscode.window.activeTextEditor) {
      this.redraw();
    }
  }

  /** Any change takes what is shown away: it was for the text before. */
  private changed(event: vscode.TextDocumentChangeEvent): void {
    const editor = vscode.window.activeTextEditor;
    if (event.contentChanges.length === 0 || (event.document !== editor?.document && event.document !== this.shown?.document)) {
      return;
    }
    this.forget();
    if (event.reason === undefined && settings.nextEditsEnabled(event.document) && settings.languageEnabled(event.document.languageId)) {
      this.timer = setTimeout(() => void this.ask(), REST_MS);
    }
  }

  private async accept(): Promise<void> {
    const edit = this.shown;
    const editor = vscode.window.activeTextEditor;
    if (edit === undefined) {
      return;
    }
    if (editor === undefined || !near(edit, editor)) {
      await jump(edit);
      this.redraw();
      return;
    }
    this.forget();
    const done = await editor.edit((builder) => builder.replace(edit.range, edit.text));
    if (done) {
      await this.tell('github.copilot.didAcceptNextEditSuggestionItem', edit);
      await this.ask();
    }
  }

  private async dismiss(): Promise<void> {
    const edit = this.shown;
    this.forget();
    if (edit !== undefined) {
      await this.tell('github.copilot.didRejectNextEditSuggestionItem', edit);
    }
  }

  private async tell(command: string, edit: Edit): Promise<void> {
    await this.client()?.sendRequest('workspace/executeCommand', { command, arguments: [edit.id] }).catch(() => undefined);
  }
}

function near(edit: Edit, editor: vscode.TextEditor): boolean {
  const { line } = editor.selection.active;
  const visible = editor.visibleRanges.some((range) => range.intersection(edit.range) !== undefined);
  const close = line >= edit.range.start.line - NEAR_LINES && line <= edit.range.end.line + NEAR_LINES;
  return editor.document === edit.document && visible && close;
}

async function jump(edit: Edit): Promise<void> {
  const at = new vscode.Range(edit.range.start, edit.range.start);
  const editor = await vscode.window.showTextDocument(edit.document, { selection: at });
  editor.revealRange(edit.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
