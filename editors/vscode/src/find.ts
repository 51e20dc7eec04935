/** Where the server is: the setting, the workspace's virtual environment, PATH, the environment of our own. Starts nothing. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { serverPath } from './settings';

const WINDOWS = process.platform === 'win32';
export const PROGRAM = WINDOWS ? 'mercury-lsp.exe' : 'mercury-lsp';
const BIN = WINDOWS ? 'Scripts' : 'bin';

export function environment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'environment');
}

/** A program of a virtual environment. */
export function within(folder: string, program: string): string {
  return path.join(folder, BIN, program);
}

/** The program's path; undefined where there is none. A setting that names nothing is not passed over. */
export function find(context: vscode.ExtensionContext): string | undefined {
  const set = serverPath();
  if (set !== '') {
    return runnable(set) ? set : undefined;
  }
  return [...inWorkspace(), ...onPath(), within(environment(context), PROGRAM)].find(runnable);
}

function inWorkspace(): string[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
  return folders.flatMap((folder) => ['.venv', 'venv'].map((name) => within(path.join(folder.uri.fsPath, name), PROGRAM)));
}

function onPath(): string[] {
  return (process.env.PATH ?? '').split(path.delimiter).filter(Boolean).map((folder) => path.join(folder, PROGRAM));
}

function runnable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
