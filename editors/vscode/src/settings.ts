/** What the user has set, and where changes of it go. Knows no server. */
import * as vscode from 'vscode';

export const SECTION = 'mercury';

/** Those that only this extension reads; the server gets the rest. */
const OURS = ['suggestions', 'nextEdits', 'server', 'trace'];

function section(scope?: vscode.ConfigurationScope): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration(SECTION, scope);
}

export function suggestionsEnabled(document?: vscode.TextDocument): boolean {
  return section(document).get('suggestions.enabled', true);
}

export function nextEditsEnabled(document?: vscode.TextDocument): boolean {
  return section(document).get('nextEdits.enabled', true);
}

export function serverPath(): string {
  return section().get('server.path', '').trim();
}

/** Whether suggestions are wanted in a language, as the server reads the same setting. */
export function languageEnabled(language: string): boolean {
  const languages = section().get<Record<string, boolean>>('languages', {});
  return languages[language] ?? languages['*'] ?? true;
}

export async function toggleLanguage(language: string): Promise<void> {
  const languages = section().get<Record<string, boolean>>('languages', {});
  const changed = { ...languages, [language]: !languageEnabled(language) };
  await section().update('languages', changed, vscode.ConfigurationTarget.Global);
}

/** In this workspace where there is one; else everywhere. */
export async function toggleWorkspace(): Promise<void> {
  const folders = vscode.workspace.workspaceFolders;
  const target = folders === undefined ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
  const on = !suggestionsEnabled();
  await section().update('suggestions.enabled', on, target);
  await section().update('nextEdits.enabled', on, target);
}

/** What the server is told: its own settings alone, and what must stay out of prompts. */
export function forServer(configured: unknown): Record<string, unknown> {
  const entries = Object.entries((configured ?? {}) as Record<string, unknown>);
  return { ...Object.fromEntries(entries.filter(([name]) => !OURS.includes(name))), exclude: excludedAnywhere() };
}

/** The server knows no folder's own settings: what one excludes is excluded in all. */
function excludedAnywhere(): string[] {
  const scopes = [undefined, ...(vscode.workspace.workspaceFolders ?? [])];
  return [...new Set(scopes.flatMap(excludedGlobs))];
}

function excludedGlobs(scope: vscode.ConfigurationScope | undefined): string[] {
  const globs = vscode.workspace.getConfiguration('files', scope).get<Record<string, boolean>>('exclude', {});
  return Object.keys(globs).filter((glob) => globs[glob] === true);
}

/** Whether `files.exclude` hides a document: what the user does not want to see is not read either. */
export function excluded(document: vscode.TextDocument): boolean {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  return folder !== undefined && excludedGlobs(document).some((glob) => hides(folder, glob, document));
}

/** Whether suggestions are wanted in a document. */
export function wanted(document: vscode.TextDocument): boolean {
  return suggestionsEnabled(document) && languageEnabled(document.languageId) && !excluded(document);
}

function hides(folder: vscode.WorkspaceFolder, glob: string, document: vscode.TextDocument): boolean {
  const patterns = [glob, `${glob}/**`]; // a folder's name hides what is in it
  return patterns.some((pattern) => vscode.languages.match({ pattern: new vscode.RelativePattern(folder, pattern) }, document) > 0);
}
