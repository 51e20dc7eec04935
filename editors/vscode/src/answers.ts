/** An answer about a selection: shown beside it, followed by further questions, its code applied. Knows no model. */
import * as vscode from 'vscode';
import type { Range } from 'vscode-languageclient';
import type { Server } from './server';

export interface Answer {
  answer?: string;
  conversation: string;
  blocks: number;
  /** Of the document in which the answer grew; none where the server could not open one. */
  uri?: string | null;
}

interface Place {
  uri: string;
  range: Range;
}

const FURTHER = 'Ask Further';
const APPLY = 'Apply Its Code';

export class Answers {
  constructor(private readonly server: Server) {}

  async show(answer: Answer, place: Place): Promise<void> {
    if (typeof answer.uri !== 'string') {
      const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: `${answer.answer}\n` });
      await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
    }
    const actions = answer.blocks > 0 ? [FURTHER, APPLY] : [FURTHER];
    const chosen = await vscode.window.showInformationMessage('Mercury has answered.', ...actions);
    if (chosen === FURTHER) {
      await this.further(answer, place);
    } else if (chosen === APPLY) {
      await this.server.execute('mercury.applyAnswer', { ...place, conversation: answer.conversation, block: await this.block(answer) });
    }
  }

  private async further(answer: Answer, place: Place): Promise<void> {
    const question = await vscode.window.showInputBox({ prompt: 'What else do you want to know?' });
    if (question === undefined) {
      return;
    }
    const next = await this.server.execute<Answer>('mercury.ask', { ...place, conversation: answer.conversation, question });
    if (next?.answer !== undefined) {
      await this.show(next, place);
    }
  }

  /** Which of the answer's code blocks, from 1. */
  private async block(answer: Answer): Promise<number> {
    const labels = Array.from({ length: answer.blocks }, (_, index) => `Block ${index + 1}`);
    const chosen = labels.length > 1 ? await vscode.window.showQuickPick(labels) : undefined;
    return chosen === undefined ? 1 : labels.indexOf(chosen) + 1;
  }
}
