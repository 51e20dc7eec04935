/** Draws a next edit: what goes is struck, what comes stands beside it, and a hint says where it is when it is elsewhere. Asks nobody. */
import * as vscode from 'vscode';
import { beside } from './picture';
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

function overLines(edit: Edit, editor: vscode.TextEditor): Drawn {
  const { document, range } = edit;
  const before = document.lineAt(range.start.line).text.slice(0, range.start.character);
  const after = document.lineAt(range.end.line).text.slice(range.end.character);
  const added = beside(editor, range, `${before}${edit.text}${after}`);
  return { removed: range.isEmpty ? [] : [range], added: [added] };
}

function hint(edit: Edit, cursor: { editor: vscode.TextEditor; line: number }): vscode.DecorationOptions {
  const here = cursor.editor.document === edit.document;
  const where = here ? `line ${edit.range.start.line + 1}` : `${vscode.workspace.asRelativePath(edit.document.uri)}:${edit.range.start.line + 1}`;
  const contentText = `Tab → ${where}${edit.label === '' ? '' : `: ${edit.label}`}`;
  const end = cursor.editor.document.lineAt(cursor.line).range.end;
  const after = { contentText, color: GHOST, border: '1px solid', margin: '0 0 0 2em' };
  return { range: new vscode.Range(end, end), renderOptions: { after } };
}
