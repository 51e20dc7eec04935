// In place of the editor's own writer of logs, which is native and would have to be compiled: what output channels show is read from its files.
const fs = require('node:fs');
const path = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'critical', 'off'];

class Logger {
  constructor(kind, name, file) {
    this.file = file;
    this.level = LEVELS.indexOf('info');
    this.plain = false;
  }

  write(level, text) {
    if (this.file !== undefined && level >= this.level) {
      fs.appendFileSync(this.file, this.plain ? text : `${new Date().toISOString()} [${LEVELS[level]}] ${text}\n`);
    }
  }

  getLevel() {
    return this.level;
  }

  setLevel(level) {
    this.level = level;
  }

  clearFormatters() {
    this.plain = true;
  }

  setPattern() {}

  flush() {}

  drop() {
    this.file = undefined;
  }
}

LEVELS.slice(0, -1).forEach((name, level) => {
  Logger.prototype[name] = function (text) {
    this.write(level, text);
  };
});

async function create(name, file) {
  await fs.promises.mkdir(path.dirname(file), { recursive: true });
  return new Logger('', name, file);
}

// One by one, so that who imports it as a module sees the names.
exports.version = 0;
exports.Logger = Logger;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
