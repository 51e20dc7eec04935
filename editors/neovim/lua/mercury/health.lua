--- `:checkhealth mercury`: what was found, what is missing, and what mends it.

local M = {}

local function neovim()
  if vim.fn.has('nvim-0.10') == 0 then
    vim.health.error('Neovim 0.10 or newer is needed')
  elseif vim.lsp.inline_completion then
    vim.health.ok('this Neovim shows suggestions itself')
  else
    vim.health.ok('this Neovim has no inline completion; the plugin draws suggestions')
  end
end

---@return boolean
local function program()
  local cmd = require('mercury.config').options.cmd
  if vim.fn.executable(cmd[1]) == 0 then
    vim.health.error(cmd[1] .. ' is not on PATH', {
      'install it: `python3 -m venv ~/.local/share/mercury-lsp && ~/.local/share/mercury-lsp/bin/pip install WHEEL`',
      "or name it: `require('mercury').setup({ cmd = { '/path/to/mercury-lsp' } })`",
    })
    return false
  end
  vim.health.ok('the server is ' .. vim.fn.exepath(cmd[1]))
  return true
end

local function doctor()
  local cmd = require('mercury.config').options.cmd
  if vim.fs.basename(cmd[1]) ~= 'mercury-lsp' then
    return
  end
  local done = vim.system({ cmd[1], 'doctor' }, { text = true, timeout = 30000 }):wait()
  local said = vim.trim(done.stdout or '')
  if done.code == 0 then
    vim.health.ok('`mercury-lsp doctor` finds nothing missing')
  else
    vim.health.warn('`mercury-lsp doctor` says:\n' .. said, { 'the model is fetched by `mercury-lsp pull`' })
  end
end

--- What the server says of itself now; an older one says nothing.
---@param server vim.lsp.Client
local function ask_status(server)
  local client, answer = require('mercury.client'), nil
  client.request(server, client.STATUS, {}, function(err, result) answer = not err and result or false end, 0)
  vim.wait(1000, function() return answer ~= nil end, 10)
  if answer then
    require('mercury.status').told(answer)
  end
end

local function running()
  local server = require('mercury.client').get()
  if server then
    ask_status(server)
  end
  local status = require('mercury.status').get()
  if not server then
    vim.health.warn('the server does not run: ' .. status.text, { "call `require('mercury').setup()`, then open a file" })
    return
  end
  local report = (status.state == 'error' or status.state == 'warning') and vim.health.warn or vim.health.ok
  report(('the server runs (%s) for %d buffers'):format(status.text, vim.tbl_count(server.attached_buffers or {})))
  for _, other in ipairs(vim.lsp.get_clients({ method = 'textDocument/inlineCompletion' })) do
    if other.name ~= server.name and other.server_capabilities.inlineCompletionProvider then
      vim.health.warn(other.name .. ' suggests as well; Neovim shows the suggestions of both, one at a time')
    end
  end
end

function M.check()
  vim.health.start('mercury')
  neovim()
  if program() then
    doctor()
    running()
  end
end

return M
