/** A text that the server is rewriting, shown where it stands while it is written. Asks nothing. */
import * as vscode from 'vscode';
import type { Range, StaticFeature } from 'vscode-languageclient';
import type { LanguageClient } from 'vscode-languageclient/node';
import { beside } from './picture';

const METHOD = 'mercury/canvas';

interface Shown {
  textDocument: { uri: string; version: number | null };
  range: Range;
  /** What will not change any more and what is a draft; none where it is over. */
  canvas: { settled: string; draft: string } | null;
}

export class Canvas implements vscode.Disposable {
  private readonly old = vscode.window.createTextEditorDecorationType({ opacity: '0.5' });
  private readonly coming = vscode.window.createTextEditorDecorationType({});

  /** What makes the server tell of it: registered before the client starts. */
  readonly feature: StaticFeature = {
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { ...(capabilities.experimental as object | undefined), mercuryCanvas: true };
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => this.clear(),
  };

  listen(client: LanguageClient): void {
    client.onNotification(METHOD, (shown: Shown) => this.draw(shown, client));
  }

  private draw({ textDocument, range, canvas }: Shown, client: LanguageClient): void {
    this.clear();
    const uri = client.protocol2CodeConverter.asUri(textDocument.uri).toString();
    const same = (document: vscode.TextDocument): boolean => document.uri.toString() === uri && document.version === textDocument.version;
    for (const editor of canvas === null ? [] : vscode.window.visibleTextEditors.filter(({ document }) => same(document))) {
      const place = editor.document.validateRange(client.protocol2CodeConverter.asRange(range));
      editor.setDecorations(this.old, [place]);
      editor.setDecorations(this.coming, [beside(editor, place, canvas?.settled ?? '', canvas?.draft)]);
    }
  }

  private clear(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.old, []);
      editor.setDecorations(this.coming, []);
    }
  }

  dispose(): void {
    vscode.Disposable.from(this.old, this.coming).dispose();
  }
}
