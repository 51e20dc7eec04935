/** Tells the server where the cursor has come to rest, so that what stands around it is read before the first key. Knows no suggestion. */
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import * as settings from './settings';

const REST = 150; // milliseconds

export function follow(client: () => LanguageClient | undefined): vscode.Disposable {
  const versions = new WeakMap<vscode.TextDocument, number>();
  let timer: NodeJS.Timeout | undefined;

  const moved = ({ textEditor, selections }: vscode.TextEditorSelectionChangeEvent): void => {
    const { document } = textEditor;
    clearTimeout(timer);
    const typed = versions.get(document) !== document.version && versions.has(document);
    versions.set(document, document.version);
    if (!typed && selections.length === 1 && selections[0]?.isEmpty === true && settings.wanted(document)) {
      timer = setTimeout(() => tell(document, textEditor.selection.active), REST);
    }
  };

  const tell = (document: vscode.TextDocument, place: vscode.Position): void => {
    const running = client();
    if (running !== undefined && !document.isClosed) {
      const { code2ProtocolConverter: convert } = running;
      const textDocument = convert.asTextDocumentIdentifier(document);
      void running.sendNotification('mercury/didMoveCursor', { textDocument, position: convert.asPosition(place) });
    }
  };

  const following = vscode.window.onDidChangeTextEditorSelection(moved);
  return vscode.Disposable.from(following, { dispose: () => clearTimeout(timer) });
}
