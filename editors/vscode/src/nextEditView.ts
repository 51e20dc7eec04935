/** Draws a next edit: what goes is struck, what comes stands beside it, and a hint says where it is when it is elsewhere. Asks nobody. */
import * as vscode from 'vscode';
import { shared } from './text';

export interface Edit {
  readonly document: vscode.TextDocument;
  readonly range: vscode.Range;
  readonly text: string;
  readonly label: string;
  readonly id: string;
}

const GHOST = new vscode.ThemeColor('editorGhostText.foreground');
const ADDED = new vscode.ThemeColor('diffEditor.insertedTextBackground');

export class NextEditView implements vscode.Disposable {
  private readonly removed = vscode.window.createTextEditorDecorationType({
    textDecoration: 'line-through',
    backgroundColor: new vscode.ThemeColor('diffEditor.removedTextBackground'),
  });
  private readonly added = vscode.window.createTextEditorDecorationType({});
  private readonly hint = vscode.window.createTextEditorDecorationType({});

  /** Draw `edit` in the editors that show its document, and the hint at `cursor` where it is given. */
  draw(edit: Edit, cursor: { editor: vscode.TextEditor; line: number } | undefined): void {
    this.clear();
    for (const editor of vscode.window.visibleTextEditors.filter((each) => each.document === edit.document)) {
      const oneLine = edit.range.isSingleLine && !edit.text.includes('\n');
      const drawn = oneLine ? withinLine(edit) : overLines(edit, editor);
      editor.setDecorations(this.removed, drawn.removed);
      editor.setDecorations(this.added, drawn.added);
    }
    cursor?.editor.setDecorations(this.hint, [hint(edit, cursor)]);
  }

  clear(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      for (const type of [this.removed, this.added, this.hint]) {
        editor.setDecorations(type, []);
      }
    }
  }

  dispose(): void {
    vscode.Disposable.from(this.removed, this.added, this.hint).dispose();
  }
}

interface Drawn {
  removed: vscode.Range[];
  added: vscode.DecorationOptions[];
}

function withinLine(edit: Edit): Drawn {
  const old = edit.document.getText(edit.range);
  const { head, tail } = shared(old, edit.text);
  const from = edit.range.start.translate(0, head);
  const to = edit.range.end.translate(0, -tail);
  const contentText = edit.text.slice(head, edit.text.length - tail).replaceAll(' ', '\u00a0'); // blanks at the ends would be dropped
  const after = { contentText, color: GHOST, backgroundColor: ADDED, fontStyle: 'italic' };
  return { removed: from.isEqual(to) ? [] : [new vscode.Range(from, to)], added: [{ range: new vscode.Range(to, to), renderOptions: { after } }] };
}

/** A decoration's text has one line, so the new lines are a picture, beside the old ones. */
function overLines(edit: Edit, editor: vscode.TextEditor): Drawn {
  const { document, range } = edit;
  const before = document.lineAt(range.start.line).text.slice(0, range.start.character);
  const after = document.lineAt(range.end.line).text.slice(range.end.character);
  const lines = `${before}${edit.text}${after}`.replace(/\n$/, '').split('\n');
  const width = Math.max(...oldLines(document, range).map((line) => line.length));
  const first = document.lineAt(range.start.line).range.end;
  const picture = {
    light: { after: { contentIconPath: svg(lines, editor, '#555555', '#9ccc2c40') } },
    dark: { after: { contentIconPath: svg(lines, editor, '#a0a0a0', '#9ccc2c30') } },
    after: { textDecoration: 'none; position: absolute; z-index: 1', margin: `0 0 0 ${width - first.character + 4}ch` },
  };
  return { removed: range.isEmpty ? [] : [range], added: [{ range: new vscode.Range(first, first), renderOptions: picture }] };
}

function oldLines(document: vscode.TextDocument, range: vscode.Range): string[] {
  return Array.from({ length: range.end.line - range.start.line + 1 }, (_, index) => document.lineAt(range.start.line + index).text);
}

function svg(lines: string[], editor: vscode.TextEditor, colour: string, background: string): vscode.Uri {
  const settings = vscode.workspace.getConfiguration('editor', editor.document);
  const size = settings.get('fontSize', 14);
  const height = settings.get('lineHeight', 0) > 8 ? settings.get('lineHeight', 0) : Math.round(size * 1.35);
  const tab = ' '.repeat(Number(editor.options.tabSize) || 4);
  const shown = lines.map((line) => line.replaceAll('\t', tab));
  const width = Math.ceil(Math.max(...shown.map((line) => line.length)) * size * 0.61) + 8;
  const rows = shown.map((line, row) => `<text x="4" y="${row * height + size}" xml:space="preserve">${escaped(line)}</text>`);
  const style = `font-family="${escaped(settings.get('fontFamily', 'monospace'))}, monospace" font-size="${size}" fill="${colour}"`;
  const image =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${shown.length * height}">` +
    `<rect width="100%" height="100%" rx="3" fill="${background}"/><g ${style}>${rows.join('')}</g></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(image).toString('base64')}`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function hint(edit: Edit, cursor: { editor: vscode.TextEditor; line: number }): vscode.DecorationOptions {
  const here = cursor.editor.document === edit.document;
  const where = here ? `line ${edit.range.start.line + 1}` : `${vscode.workspace.asRelativePath(edit.document.uri)}:${edit.range.start.line + 1}`;
  const contentText = `Tab → ${where}${edit.label === '' ? '' : `: ${edit.label}`}`;
  const end = cursor.editor.document.lineAt(cursor.line).range.end;
  const after = { contentText, color: GHOST, border: '1px solid', margin: '0 0 0 2em' };
  return { range: new vscode.Range(end, end), renderOptions: { after } };
}
