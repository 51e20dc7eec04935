/** The item in the status bar: what the server is at, and the way to mend what is wrong. Knows no client. */
import * as vscode from 'vscode';

export type State =
  | { kind: 'untrusted' | 'missing' | 'starting' | 'ready' | 'stopped' }
  | { kind: 'loading'; what: string; percent?: number }
  | { kind: 'warning' | 'error'; message: string };

/** What the server says of itself: of a remote engine that is gone, for one, whose place another takes. */
export interface Told {
  kind: 'loading' | 'ready' | 'warning' | 'error';
  message: string;
}

/** What is shown for a state where suggestions are wanted. */
function look(state: State): [icon: string, text: string] {
  switch (state.kind) {
    case 'untrusted':
      return ['$(shield)', 'Off until this workspace is trusted'];
    case 'missing':
      return ['$(error)', 'The server was not found: select to install it'];
    case 'starting':
      return ['$(loading~spin)', 'Starting'];
    case 'stopped':
      return ['$(error)', 'The server has stopped: select to restart it'];
    case 'loading':
      return ['$(loading~spin)', state.percent === undefined ? state.what : `${state.what}: ${state.percent} %`];
    case 'warning':
      return ['$(warning)', state.message];
    case 'error':
      return ['$(error)', state.message];
    case 'ready':
      return ['$(sparkle)', 'Ready'];
  }
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('mercury.status', vscode.StatusBarAlignment.Right, 100);
  private current: State = { kind: 'starting' };
  private pending = 0;
  /** What is being loaded, while it is. */
  loading: { token: number | string; title: string } | undefined;

  /** `off`: why nothing is suggested in the editor at hand, undefined where something is. */
  constructor(private readonly off: () => string | undefined) {
    this.item.name = 'Mercury';
    this.item.command = 'mercury.menu';
    this.draw();
    this.item.show();
  }

  get state(): State {
    return this.current;
  }

  set state(state: State) {
    this.current = state;
    void vscode.commands.executeCommand('setContext', 'mercury.ready', this.serves);
    this.draw();
  }

  /** Whether there are suggestions, where they are wanted. */
  private get serves(): boolean {
    return ['ready', 'warning'].includes(this.current.kind);
  }

  /** The server said it, unasked or when it was asked; of loading its progress says more. */
  told({ kind, message }: Told): void {
    if (kind === 'ready') {
      this.state = { kind };
    } else if (kind !== 'loading') {
      this.state = { kind, message };
    } else if (this.loading === undefined) {
      this.state = { kind, what: message || 'Loading' };
    }
  }

  /** What is going on in a sentence. */
  get text(): string {
    return (this.serves ? this.off() : undefined) ?? look(this.current)[1];
  }

  /** Show that something is asked, until it is answered. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.pending += 1;
    this.draw();
    try {
      return await work;
    } finally {
      this.pending -= 1;
      this.draw();
    }
  }

  draw(): void {
    const off = this.serves ? this.off() : undefined;
    const busy = this.current.kind === 'ready' && this.pending > 0;
    const [icon] = off !== undefined ? ['$(circle-slash)'] : busy ? ['$(loading~spin)'] : look(this.current);
    const percent = this.current.kind === 'loading' && this.current.percent !== undefined ? ` ${this.current.percent}%` : '';
    const bad = ['missing', 'stopped', 'error'].includes(this.current.kind);
    this.item.text = `${icon} Mercury${percent}`;
    this.item.tooltip = `Mercury: ${busy ? 'Busy' : this.text}`;
    this.item.accessibilityInformation = { label: this.item.tooltip };
    const colour = bad ? 'statusBarItem.errorBackground' : this.current.kind === 'warning' ? 'statusBarItem.warningBackground' : undefined;
    this.item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
  }

  dispose(): void {
    this.item.dispose();
  }
}
