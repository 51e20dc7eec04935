--- A suggestion at the cursor: shown by Neovim where it can, by `mercury.inline` elsewhere; accepted whole, by word or by line.

local client = require('mercury.client')
local config = require('mercury.config')
local inline = require('mercury.inline')
local text = require('mercury.text')

local M = {}

M.after_accept = function() end -- the next edit is asked for then

---@return table?
local function builtin() return config.options.suggestions.builtin and vim.lsp.inline_completion or nil end

--- Take Neovim's own suggestion away. There is no call for it, but it is done when insert mode ends.
local function hide_builtin()
  if builtin() then
    local group = 'nvim.lsp.inline_completion:' .. vim.api.nvim_get_current_buf()
    pcall(vim.api.nvim_exec_autocmds, 'InsertLeave', { group = group })
  end
end

---@param on boolean
function M.enable(on)
  if builtin() then
    vim.lsp.inline_completion.enable(on)
  else
    inline.enable(on)
  end
end

---@return boolean
function M.visible()
  if inline.visible() or not builtin() then
    return inline.visible()
  end
  local namespace = vim.api.nvim_create_namespace('nvim.lsp.inline_completion')
  return vim.fn.pumvisible() == 0 and #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { limit = 1 }) > 0
end

--- Insert a part of an item at the cursor. What was typed since it was asked for counts; what no longer fits changes nothing.
---@param insert_text string
---@param part fun(new: string): string
---@return boolean complete whether nothing is left of it
local function insert(insert_text, part)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local line = vim.api.nvim_get_current_line()
  local new, whole = text.new_part(insert_text, line:sub(1, column), line:sub(column + 1))
  if not new then
    return false
  end
  local taken = part(new)
  local to = (whole or taken ~= new) and column or #line -- what stands after the cursor is in the new text then
  local lines = vim.split(taken, '\n', { plain = true })
  vim.api.nvim_buf_set_text(0, row - 1, column, row - 1, to, lines)
  vim.api.nvim_win_set_cursor(0, { row + #lines - 1, (#lines == 1 and column or 0) + #lines[#lines] })
  return taken == new
end

---@param part fun(new: string): string
---@return boolean
local function accept(part)
  if not M.visible() then
    return false
  end
  local bufnr = vim.api.nvim_get_current_buf()
  local function take(item)
    local complete = insert(item.insert_text or item.insertText, part)
    local server = client.get(bufnr)
    if complete and server and item.command then
      client.execute(server, item.command, bufnr)
      inline.dismiss()
      M.after_accept()
    end
  end
  if builtin() and not inline.visible() then
    return vim.lsp.inline_completion.get({ on_accept = take })
  end
  return inline.accept(take)
end

---@return boolean whether there was a suggestion
function M.accept()
  return accept(function(new) return new end)
end

---@return boolean
function M.accept_word() return accept(text.word) end

---@return boolean
function M.accept_line() return accept(text.line) end

--- Neovim's own has no call for what is asked for with a key: ours shows it, until something is typed.
local function stand_in_for_builtin()
  hide_builtin()
  local group = vim.api.nvim_create_augroup('mercury.ghost', {})
  vim.api.nvim_create_autocmd({ 'CursorMovedI', 'InsertLeave' }, { group = group, once = true, callback = inline.dismiss })
end

---@param step integer
function M.cycle(step)
  local from = M.visible() and 1 or 0
  if builtin() and not inline.visible() then
    stand_in_for_builtin()
  end
  inline.cycle(step, from)
end

function M.dismiss()
  hide_builtin()
  inline.dismiss()
end

return M
