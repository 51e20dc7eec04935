// Whether the Lua files are formatted as neovim/stylua.toml says; --write formats them. Stylua's own program comes from no package registry.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CollapseSimpleStatement, Config, IndentType, OutputVerification, QuoteStyle, formatCode } from '@johnnymorganz/stylua';

const home = join(dirname(fileURLToPath(import.meta.url)), 'neovim');
const settings = Object.fromEntries(
  readFileSync(join(home, 'stylua.toml'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' = ')),
);
const named = (kinds, name) => kinds[JSON.parse(settings[name])];

function config() {
  const made = Config.new();
  made.column_width = Number(settings.column_width);
  made.indent_width = Number(settings.indent_width);
  made.indent_type = named(IndentType, 'indent_type');
  made.quote_style = named(QuoteStyle, 'quote_style');
  made.collapse_simple_statement = named(CollapseSimpleStatement, 'collapse_simple_statement');
  return made;
}

let bad = 0;
for (const name of readdirSync(home, { recursive: true }).filter((each) => each.endsWith('.lua'))) {
  const path = join(home, name);
  const before = readFileSync(path, 'utf8');
  const after = formatCode(before, config(), undefined, OutputVerification.Full);
  if (after !== before && process.argv.includes('--write')) {
    writeFileSync(path, after);
  } else if (after !== before) {
    console.error(`would be formatted: editors/neovim/${name}`);
    bad += 1;
  }
}
process.exitCode = bad === 0 ? 0 : 1;
