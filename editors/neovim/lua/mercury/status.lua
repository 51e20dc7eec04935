--- What the server is at, in a word and in a line for a statusline. Knows no key and no text.

local client = require('mercury.client')

local M = {}

---@class mercury.Status
---@field state 'off'|'missing'|'starting'|'loading'|'busy'|'ready'|'warning'|'error'
---@field text string

local loading ---@type string? the title of what is loaded
local failed ---@type string? the last error the server showed
local warned ---@type string? what is wrong with an engine that goes on answering
local wanted = true -- whether suggestions are switched on

---@param on boolean
function M.switched(on) wanted = on end

---@param server vim.lsp.Client
---@return boolean
local function busy(server)
  for _, request in pairs(server.requests) do
    if request.type == 'pending' then
      return true
    end
  end
  return false
end

---@return mercury.Status
function M.get()
  local cmd = require('mercury.config').options.cmd[1]
  local server = client.get()
  if not wanted then
    return { state = 'off', text = 'off' }
  elseif not server and vim.fn.executable(cmd) == 0 then
    return { state = 'missing', text = cmd .. ' not found, see :checkhealth mercury' }
  elseif failed then
    return { state = 'error', text = failed }
  elseif not server then
    return { state = 'off', text = 'not started' }
  elseif not server.initialized then
    return { state = 'starting', text = 'starting' }
  elseif loading then
    return { state = 'loading', text = loading }
  elseif warned then
    return { state = 'warning', text = warned }
  end
  return busy(server) and { state = 'busy', text = 'busy' } or { state = 'ready', text = 'ready' }
end

local SIGNS = { off = '-', missing = '!', starting = '…', loading = '…', busy = '*', ready = '+', warning = '~', error = '!' }

--- For a statusline: `%{v:lua.require'mercury'.statusline()}`.
---@return string
function M.line()
  local status = M.get()
  local more = status.state == 'loading' and (' ' .. status.text) or ''
  return 'mercury' .. SIGNS[status.state] .. more
end

local loads ---@type string|integer? the token of what is loaded; of what else is going on Neovim tells

---@param token string|integer
---@param value table of `$/progress`
local function progress(token, value)
  if value.kind == 'begin' and vim.startswith(value.title, 'Loading') then
    loads, loading, failed = token, value.title, nil
  elseif token ~= loads then
    return
  elseif value.kind == 'end' then
    loading, loads, failed = nil, nil, value.message
  elseif value.percentage then
    loading = ('%s %d%%'):format(loading:gsub(' %d+%%$', ''), value.percentage)
  end
end

function M.follow()
  local group = vim.api.nvim_create_augroup('mercury.status', {})
  vim.api.nvim_create_autocmd('LspProgress', {
    group = group,
    callback = function(event)
      local server = vim.lsp.get_client_by_id(event.data.client_id)
      if server and server.name == client.NAME then
        progress(event.data.params.token, event.data.params.value)
        vim.cmd.redrawstatus()
      end
    end,
  })
end

--- A message of the server's: an error stays in the status until something is loaded.
---@param kind integer
---@param message string
function M.said(kind, message)
  if kind == vim.lsp.protocol.MessageType.Error then
    failed = message
  end
end

---@class mercury.Told
---@field kind 'loading'|'ready'|'warning'|'error'
---@field message string

--- The server tells what became of it, unasked or when it was asked.
---@param told mercury.Told
function M.told(told)
  warned = told.kind == 'warning' and told.message or nil
  failed = told.kind == 'error' and told.message or nil
  vim.cmd.redrawstatus()
end

function M.reset()
  loading, failed, warned = nil, nil, nil
end

return M
