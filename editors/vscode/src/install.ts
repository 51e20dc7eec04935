/** Makes an environment and installs the wheel that came with the extension. Knows no client. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { environment, within } from './find';

const run = promisify(execFile);
const PYTHONS = process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];
const NEWEST_FIRST = '3.11';

/** Returns whether the server is there now; what went wrong is said. */
export async function install(context: vscode.ExtensionContext, output: vscode.LogOutputChannel): Promise<boolean> {
  const options = { location: vscode.ProgressLocation.Notification, title: 'Mercury: installing the server' };
  try {
    await vscode.window.withProgress(options, (progress) => steps(context, output, (message) => progress.report({ message })));
    return true;
  } catch (error) {
    output.error(String(error));
    void failed(firstLine(error), output);
    return false;
  }
}

async function failed(why: string, output: vscode.LogOutputChannel): Promise<void> {
  const showing = 'Show Output';
  if ((await vscode.window.showErrorMessage(`Mercury: the server could not be installed. ${why}`, showing)) === showing) {
    output.show();
  }
}

async function steps(context: vscode.ExtensionContext, output: vscode.LogOutputChannel, say: (message: string) => void): Promise<void> {
  const wheel = await bundledWheel(context);
  const folder = environment(context);
  const python = await findPython();
  say('making an environment');
  await logged(output, python, ['-m', 'venv', folder]);
  say('installing; torch takes a minute or more and 1 GB');
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check'];
  await logged(output, within(folder, 'python'), [...pip, '--upgrade', 'pip>=24.1']);
  await logged(output, within(folder, 'python'), [...pip, wheel]);
}

async function bundledWheel(context: vscode.ExtensionContext): Promise<string> {
  const folder = context.asAbsolutePath('wheel');
  const names = await fs.readdir(folder).catch(() => []);
  const wheel = names.find((name) => name.endsWith('.whl'));
  if (wheel === undefined) {
    throw new Error('This build of the extension carries no wheel: `make vsix` puts it in.');
  }
  return path.join(folder, wheel);
}

async function findPython(): Promise<string> {
  for (const name of PYTHONS) {
    const check = `import sys; sys.exit(sys.version_info < (${NEWEST_FIRST.replace('.', ', ')}))`;
    if (await run(name, ['-c', check]).then(() => true, () => false)) {
      return name;
    }
  }
  throw new Error(`Python ${NEWEST_FIRST} or newer is needed, and ${PYTHONS.join(' or ')} is none.`);
}

async function logged(output: vscode.LogOutputChannel, program: string, args: string[]): Promise<void> {
  output.info(`${program} ${args.join(' ')}`);
  const { stdout, stderr } = await run(program, args, { maxBuffer: 64 * 1024 * 1024 });
  output.info(stdout.trim());
  if (stderr.trim() !== '') {
    output.warn(stderr.trim());
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
