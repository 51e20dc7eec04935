--- mercury-lsp in Neovim: suggestions, next edits and commands. `require('mercury').setup()` is all that is needed; see `:help mercury`.

local client = require('mercury.client')
local config = require('mercury.config')
local cursor = require('mercury.cursor')
local ghost = require('mercury.ghost')
local keys = require('mercury.keys')
local next_edit = require('mercury.next_edit')
local status = require('mercury.status')

local M = { accept_word = ghost.accept_word, accept_line = ghost.accept_line, cycle = ghost.cycle }

local on = false

local function colours()
  local links =
    { MercuryGhost = 'Comment', MercuryDelete = 'DiffDelete', MercuryAdd = 'DiffAdd', MercuryJump = 'DiagnosticVirtualTextHint' }
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

--- Accept the suggestion at the cursor, or else jump to or accept the next edit.
---@return boolean whether there was one
function M.accept() return ghost.accept() or next_edit.accept() end

---@return boolean
function M.dismiss()
  local had = ghost.visible()
  vim.schedule(ghost.dismiss)
  return next_edit.dismiss() or had
end

local function map_keys()
  local wanted = config.options.keys
  local function in_insert(act)
    return function() return not keys.taken() and act() end
  end
  keys.map('i', wanted.accept, 'mercury: accept', in_insert(M.accept))
  keys.map('n', wanted.accept, 'mercury: jump to or accept the next edit', next_edit.accept)
  keys.map('i', wanted.accept_word, 'mercury: accept a word', in_insert(ghost.accept_word))
  keys.map('i', wanted.accept_line, 'mercury: accept a line', in_insert(ghost.accept_line))
  keys.map('i', wanted.next, 'mercury: next suggestion', function()
    vim.schedule(function() ghost.cycle(1) end)
  end)
  keys.map('i', wanted.prev, 'mercury: previous suggestion', function()
    vim.schedule(function() ghost.cycle(-1) end)
  end)
  keys.map('i', wanted.dismiss, 'mercury: dismiss', function() return ghost.visible() and M.dismiss() end)
  keys.map('n', wanted.dismiss_edit, 'mercury: dismiss the next edit', next_edit.dismiss)
end

--- Switch suggestions and next edits on or off, everywhere. Not given: the other way round.
---@param to? boolean
function M.toggle(to)
  if to == nil then
    to = not on
  end
  on = to
  status.switched(on)
  ghost.enable(on and config.options.suggestions.enabled)
  cursor.enable(on and config.options.suggestions.enabled)
  next_edit.enable(on and config.options.next_edit.enabled)
end

---@return boolean
function M.enabled() return on end

function M.restart()
  client.stop()
  status.reset()
  vim.defer_fn(function() client.start(config.options) end, 500)
end

M.next_edit = next_edit.ask
M.status = status.get
M.statusline = status.line

---@param options? table what differs from `mercury.Config`'s defaults
function M.setup(options)
  local bad = config.read(options)
  if #bad > 0 then
    vim.notify('mercury: the defaults are used, because of\n' .. table.concat(bad, '\n'), vim.log.levels.ERROR)
  end
  colours()
  status.follow()
  ghost.after_accept = function()
    if config.options.next_edit.enabled then
      next_edit.ask_soon()
    end
  end
  require('mercury.commands').create()
  map_keys()
  client.start(config.options)
  M.toggle(true)
end

return M
