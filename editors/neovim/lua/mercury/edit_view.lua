--- Draws a next edit: what goes is struck, what comes is ghosted, and a hint stands at the cursor where it lies elsewhere. Asks nobody.

local text = require('mercury.text')

local M = {}

local namespace = vim.api.nvim_create_namespace('mercury.next_edit')

---@class mercury.Edit
---@field bufnr integer
---@field first integer first row, 0-based
---@field last integer last row
---@field from integer byte column in the first row
---@field to integer byte column in the last row
---@field new string
---@field label string
---@field raw table as the server sent it

---@param bufnr integer
function M.clear(bufnr)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

---@param bufnr integer
---@return boolean
function M.visible(bufnr) return #vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { limit = 1 }) > 0 end

--- A change within one line: the part that differs, struck, and the new part behind it.
---@param edit mercury.Edit
---@param old string
local function within_line(edit, old)
  local head, tail = text.shared(old, edit.new)
  local from, to = edit.from + head, edit.to - tail
  if to > from then
    vim.api.nvim_buf_set_extmark(edit.bufnr, namespace, edit.first, from, { end_col = to, hl_group = 'MercuryDelete' })
  end
  local added = edit.new:sub(head + 1, #edit.new - tail)
  vim.api.nvim_buf_set_extmark(edit.bufnr, namespace, edit.first, to, {
    virt_text = { { added, 'MercuryAdd' } },
    virt_text_pos = 'inline',
  })
end

--- A change of lines: those that differ, struck, and the new ones below them.
---@param edit mercury.Edit
local function over_lines(edit)
  local old = vim.api.nvim_buf_get_lines(edit.bufnr, edit.first, edit.last + 1, false)
  local after = old[#old]:sub(edit.to + 1)
  local new = vim.split(old[1]:sub(1, edit.from) .. edit.new .. after, '\n', { plain = true })
  local diff = vim.text and vim.text.diff or vim.diff
  local hunks = diff(table.concat(old, '\n') .. '\n', table.concat(new, '\n') .. '\n', { result_type = 'indices' })
  for _, hunk in
    ipairs(hunks --[[@as integer[][] ]])
  do
    local start, count, new_start, new_count = unpack(hunk)
    for row = edit.first + start - 1, edit.first + start + count - 2 do
      local line = old[row - edit.first + 1]
      vim.api.nvim_buf_set_extmark(edit.bufnr, namespace, row, 0, { end_col = #line, hl_group = 'MercuryDelete', hl_eol = true })
    end
    local lines = vim.tbl_map(
      function(line) return { { line, 'MercuryAdd' } } end,
      vim.list_slice(new, new_start, new_start + new_count - 1)
    )
    if #lines > 0 then
      local above = count == 0 and start == 0 -- before the first line of the range
      local row = math.min(edit.last, edit.first + math.max(start + math.max(count, 1) - 2, 0))
      vim.api.nvim_buf_set_extmark(edit.bufnr, namespace, row, 0, { virt_lines = lines, virt_lines_above = above })
    end
  end
end

--- Whether the cursor of the current window is where the edit is, so that a key accepts it; else it jumps there first.
---@param edit mercury.Edit
---@return boolean
function M.near(edit)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return vim.api.nvim_get_current_buf() == edit.bufnr and row >= edit.first - 1 and row <= edit.last + 1
end

---@param edit mercury.Edit
---@param key string
function M.draw(edit, key)
  M.clear(edit.bufnr)
  local old = table.concat(vim.api.nvim_buf_get_text(edit.bufnr, edit.first, edit.from, edit.last, edit.to, {}), '\n')
  if old:find('\n') or edit.new:find('\n') then
    over_lines(edit)
  else
    within_line(edit, old)
  end
  if not M.near(edit) and vim.api.nvim_get_current_buf() == edit.bufnr then
    M.point(edit.bufnr, key, 'line ' .. (edit.first + 1), edit.label)
  end
end

--- A hint at the cursor that an edit lies elsewhere.
---@param bufnr integer
---@param key string
---@param place string
---@param label string
function M.point(bufnr, key, place, label)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local hint = (' %s %s%s '):format(key, place, label ~= '' and (': ' .. label) or '')
  vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, { virt_text = { { hint, 'MercuryJump' } }, virt_text_pos = 'eol' })
end

return M
