/** New lines beside old ones. A decoration's text has one line, so they are a picture. Knows no edit. */
import * as vscode from 'vscode';

/** `text` beside the lines of `range`, whatever they are; `draft`, which goes on with it, is paler. */
export function beside(editor: vscode.TextEditor, range: vscode.Range, text: string, draft = ''): vscode.DecorationOptions {
  const { document } = editor;
  const lines = split(text, draft.replace(/\n$/, ''));
  const width = Math.max(...oldLines(document, range).map((line) => line.length));
  const first = document.lineAt(range.start.line).range.end;
  const renderOptions = {
    light: { after: { contentIconPath: svg(lines, editor, '#555555', '#9ccc2c40') } },
    dark: { after: { contentIconPath: svg(lines, editor, '#a0a0a0', '#9ccc2c30') } },
    after: { textDecoration: 'none; position: absolute; z-index: 1', margin: `0 0 0 ${width - first.character + 4}ch` },
  };
  return { range: new vscode.Range(first, first), renderOptions };
}

/** A line of the picture: what is sure of it, and what is paler. */
type Line = [sure: string, pale: string];

function split(text: string, draft: string): Line[] {
  const sure = (draft === '' ? text.replace(/\n$/, '') : text).split('\n');
  const [joined = '', ...below] = draft.split('\n');
  return [...sure.map((line, row): Line => [line, row === sure.length - 1 ? joined : '']), ...below.map((line): Line => ['', line])];
}

function oldLines(document: vscode.TextDocument, range: vscode.Range): string[] {
  return Array.from({ length: range.end.line - range.start.line + 1 }, (_, index) => document.lineAt(range.start.line + index).text);
}

function svg(lines: Line[], editor: vscode.TextEditor, colour: string, background: string): vscode.Uri {
  const settings = vscode.workspace.getConfiguration('editor', editor.document);
  const size = settings.get('fontSize', 14);
  const height = settings.get('lineHeight', 0) > 8 ? settings.get('lineHeight', 0) : Math.round(size * 1.35);
  const tab = ' '.repeat(Number(editor.options.tabSize) || 4);
  const shown = lines.map((line): Line => [line[0].replaceAll('\t', tab), line[1].replaceAll('\t', tab)]);
  const width = Math.ceil(Math.max(...shown.map((line) => line.join('').length)) * size * 0.61) + 8;
  const rows = shown.map((line, row) => `<text x="4" y="${row * height + size}" xml:space="preserve">${marked(line)}</text>`);
  const style = `font-family="${escaped(settings.get('fontFamily', 'monospace'))}, monospace" font-size="${size}" fill="${colour}"`;
  const image =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${shown.length * height}">` +
    `<rect width="100%" height="100%" rx="3" fill="${background}"/><g ${style}>${rows.join('')}</g></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(image).toString('base64')}`);
}

function marked([sure, pale]: Line): string {
  return escaped(sure) + (pale === '' ? '' : `<tspan fill-opacity="0.5">${escaped(pale)}</tspan>`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
