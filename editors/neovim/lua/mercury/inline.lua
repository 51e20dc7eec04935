--- Ghost text of our own, where Neovim has no inline completion: asked for while typing, drawn with extmarks. Knows no key.

local client = require('mercury.client')
local config = require('mercury.config')
local text = require('mercury.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('mercury.inline')
local METHOD = 'textDocument/inlineCompletion'
local AUTOMATIC, INVOKED = 2, 1

---@class mercury.Shown what the server proposed for a buffer
---@field bufnr integer
---@field row integer 0-based
---@field items lsp.InlineCompletionItem[]
---@field index integer

---@type mercury.Shown?
local shown
---@type { client: vim.lsp.Client, id: integer? }?
local pending
local timer = assert(vim.uv.new_timer())
local asked = 0 -- counts requests; an answer to an older one is dropped

---@return string before
---@return string after
---@return integer row
---@return integer column
local function cursor()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  return line:sub(1, column), line:sub(column + 1), row - 1, column
end

local function clear()
  if shown and vim.api.nvim_buf_is_valid(shown.bufnr) then
    vim.api.nvim_buf_clear_namespace(shown.bufnr, namespace, 0, -1)
  end
end

--- The item at the cursor and what of it is new there; nil where there is none.
---@return lsp.InlineCompletionItem?
---@return string? new
---@return boolean? whole
local function current()
  if not shown or shown.bufnr ~= vim.api.nvim_get_current_buf() then
    return nil
  end
  local before, after, row = cursor()
  local item = shown.items[shown.index]
  local new, whole = text.new_part(item.insertText, before, after)
  if row ~= shown.row or not new then
    return nil
  end
  return item, new, whole
end

--- Draw what is left of the suggestion after what was typed, or take it away.
local function draw()
  clear()
  local _, new, whole = current()
  if not new or vim.fn.pumvisible() == 1 then
    return
  end
  local _, after, row, column = cursor()
  local lines = vim.split(new, '\n', { plain = true })
  local first = lines[1] .. (whole and '' or (' '):rep(vim.fn.strdisplaywidth(after) - vim.fn.strdisplaywidth(lines[1])))
  local below = vim.tbl_map(function(line) return { { line, 'MercuryGhost' } } end, { unpack(lines, 2) })
  vim.api.nvim_buf_set_extmark(0, namespace, row, column, {
    virt_text = { { first, 'MercuryGhost' } },
    virt_text_pos = whole and 'inline' or 'overlay',
    virt_lines = below,
    hl_mode = 'combine',
  })
end

function M.dismiss()
  timer:stop()
  asked = asked + 1
  if pending then
    client.cancel(pending.client, pending.id)
    pending = nil
  end
  clear()
  shown = nil
end

---@param kind integer
---@param chosen? integer which item to show
function M.ask(kind, chosen)
  local bufnr = vim.api.nvim_get_current_buf()
  local server = client.get(bufnr)
  if not server then
    return
  end
  if pending then
    client.cancel(pending.client, pending.id)
  end
  asked = asked + 1
  local ask, tick = asked, vim.api.nvim_buf_get_changedtick(bufnr)
  local params = vim.tbl_extend('error', client.place(server, bufnr), { context = { triggerKind = kind } })
  local function answered(err, result)
    if ask ~= asked or err or not vim.api.nvim_buf_is_valid(bufnr) or tick ~= vim.api.nvim_buf_get_changedtick(bufnr) then
      return
    end
    pending = nil
    clear()
    local items = result and (result.items or result) or {}
    local index = ((chosen or 1) - 1) % math.max(#items, 1) + 1
    shown = #items > 0 and { bufnr = bufnr, row = params.position.line, items = items, index = index } or nil
    draw()
  end
  pending = { client = server, id = client.request(server, METHOD, params, answered, bufnr) }
end

--- Whether a suggestion is on the screen.
---@return boolean
function M.visible() return current() ~= nil and vim.fn.pumvisible() == 0 end

--- Hand the item at the cursor to `take`, which puts it into the buffer.
---@param take fun(item: lsp.InlineCompletionItem)
---@return boolean
function M.accept(take)
  local item = current()
  if not item then
    return false
  end
  vim.schedule(function() take(item) end)
  return true
end

--- Show another suggestion; the first time more are asked for than come while typing.
---@param step integer
---@param from integer the number of the one that is shown, 0 for none
function M.cycle(step, from)
  if shown and #shown.items > 1 then
    shown.index = (shown.index + step - 1) % #shown.items + 1
    draw()
  else
    M.ask(INVOKED, from == 0 and 1 or from + step)
  end
end

local function typed()
  draw()
  timer:start(config.options.suggestions.debounce, 0, function()
    vim.schedule(function()
      if vim.api.nvim_get_mode().mode:sub(1, 1) == 'i' then
        M.ask(AUTOMATIC)
      end
    end)
  end)
end

--- Ask while a buffer is typed in, or stop that.
---@param on boolean
function M.enable(on)
  local group = vim.api.nvim_create_augroup('mercury.inline', {})
  M.dismiss()
  if not on then
    return
  end
  vim.api.nvim_create_autocmd({ 'InsertEnter', 'CursorMovedI', 'TextChangedP' }, { group = group, callback = typed })
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave' }, { group = group, callback = M.dismiss })
end

return M
