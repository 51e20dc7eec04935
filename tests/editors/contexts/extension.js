const vscode = require('vscode');

const STATES = {
  'contexts.vimInsert': { 'vim.active': true, 'vim.mode': 'Insert' },
  'contexts.vimNormal': { 'vim.active': true, 'vim.mode': 'Normal' },
  'contexts.inlineChat': { inlineChatVisible: true },
};

exports.activate = (context) => {
  for (const [command, state] of Object.entries(STATES)) {
    const say = () => Promise.all(Object.entries(state).map(([key, value]) => vscode.commands.executeCommand('setContext', key, value)));
    context.subscriptions.push(vscode.commands.registerCommand(command, say));
  }
};
