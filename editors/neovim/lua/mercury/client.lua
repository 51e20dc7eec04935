--- The language client: how it is started on each version of Neovim, and how it is spoken to. Knows no suggestion.

local M = {}

--- Plugins that show suggestions look for a client with "copilot" in its name.
M.NAME = 'copilot_mercury'
M.STATUS = 'mercury/status'

-- so that errors of the server's stay in the status, too
local function show_message(err, params, context, ...)
  require('mercury.status').said(params.type, params.message)
  return vim.lsp.handlers['window/showMessage'](err, params, context, ...)
end

-- Where there is no statusline for it, it is said once a time it happens.
local function told(_, params)
  require('mercury.status').told(params)
  if params.kind == 'warning' then
    vim.notify('mercury: ' .. params.message, vim.log.levels.WARN)
  end
end

local modern = vim.fn.has('nvim-0.11') == 1 -- it has `vim.lsp.config`, and its clients have methods

---@param config mercury.Config
local function lsp_config(config)
  local base = dofile(vim.api.nvim_get_runtime_file('lsp/' .. M.NAME .. '.lua', false)[1])
  return vim.tbl_deep_extend('force', base, {
    cmd = config.cmd,
    root_markers = config.root_markers,
    filetypes = config.filetypes,
    settings = { mercury = next(config.settings) and config.settings or vim.empty_dict() },
    capabilities = { experimental = { mercuryStatus = true } },
    handlers = { ['window/showMessage'] = show_message, [M.STATUS] = told },
  })
end

--- Start the server for buffers that are open and for those to come.
---@param config mercury.Config
function M.start(config)
  local made = lsp_config(config)
  if modern then
    vim.lsp.config(M.NAME, made)
    vim.lsp.enable(M.NAME)
    return
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('mercury.start', {}),
    callback = function(event)
      local wanted = not config.filetypes or vim.tbl_contains(config.filetypes, event.match)
      if wanted and vim.bo[event.buf].buftype == '' then
        local root = vim.fs.root(event.buf, config.root_markers)
        local capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), made.capabilities)
        local options = vim.tbl_extend('force', made, { name = M.NAME, root_dir = root, capabilities = capabilities })
        vim.lsp.start(options, { bufnr = event.buf, reuse_client = made.reuse_client })
      end
    end,
  })
end

---@param bufnr? integer
---@return vim.lsp.Client?
function M.get(bufnr)
  local filter = { name = M.NAME, bufnr = bufnr }
  return vim.lsp.get_clients(filter)[1]
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param handler fun(err: lsp.ResponseError?, result: any)
---@param bufnr integer
---@return integer? id of the request
function M.request(client, method, params, handler, bufnr)
  local done, id
  if modern then
    done, id = client:request(method, params, handler, bufnr)
  else
    done, id = client.request(method, params, handler, bufnr)
  end
  return done and id or nil
end

---@param client vim.lsp.Client
---@param id integer?
function M.cancel(client, id)
  local request = id and client.requests[id]
  if not id or not request or request.type ~= 'pending' then
    return
  elseif modern then
    client:cancel_request(id)
  else
    client.cancel_request(id)
  end
end

---@param client vim.lsp.Client
---@param method string
---@param params table
function M.notify(client, method, params)
  if modern then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

--- Run a command of the server's.
---@param client vim.lsp.Client
---@param command lsp.Command
---@param bufnr integer
---@param handler? fun(err: lsp.ResponseError?, result: any)
function M.execute(client, command, bufnr, handler)
  local params = { command = command.command, arguments = command.arguments }
  M.request(client, 'workspace/executeCommand', params, handler or function() end, bufnr)
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return lsp.TextDocumentPositionParams params those of a cursor in UTF-16, which is what the server counts in
function M.place(client, bufnr)
  local window = vim.api.nvim_get_current_buf() == bufnr and 0 or vim.fn.bufwinid(bufnr)
  local params = vim.lsp.util.make_position_params(window, client.offset_encoding)
  params.textDocument.version = vim.lsp.util.buf_versions[bufnr]
  return params
end

function M.stop()
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME })) do
    if modern then
      client:stop()
    else
      client.stop()
    end
  end
end

return M
