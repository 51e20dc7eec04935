--- Tells the server where the cursor has come to rest, so that what stands around it is read before the first key.

local client = require('mercury.client')

local M = {}

local REST = 150 -- milliseconds

local timer

local function tell()
  local bufnr = vim.api.nvim_get_current_buf()
  local server = client.get(bufnr)
  if server then
    local place = client.place(server, bufnr)
    client.notify(server, 'mercury/didMoveCursor', { textDocument = place.textDocument, position = place.position })
  end
end

---@param on boolean
function M.enable(on)
  local group = vim.api.nvim_create_augroup('mercury.cursor', {})
  if timer then
    timer:stop()
  end
  if not on then
    return
  end
  timer = timer or vim.uv.new_timer()
  vim.api.nvim_create_autocmd('CursorMoved', {
    group = group,
    callback = function() timer:start(REST, 0, vim.schedule_wrap(tell)) end,
  })
end

return M
