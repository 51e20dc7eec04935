--- An answer about a selection, in a window of its own: further questions and its code belong to that window. Asks nobody.

local M = {}

---@class mercury.Answer
---@field answer string
---@field conversation string
---@field blocks integer

--- The command's argument that an answer's buffer goes on with.
---@param bufnr integer
---@return table? argument nil where the buffer is no answer
function M.of(bufnr) return vim.b[bufnr].mercury_answer end

---@param bufnr integer
local function fill(bufnr, answer)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(answer, '\n', { plain = true }))
  vim.bo[bufnr].modifiable = false
end

---@return integer bufnr
local function window()
  vim.cmd('botright vertical new')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].swapfile = 'nofile', 'wipe', false
  vim.bo[bufnr].filetype = 'markdown'
  return bufnr
end

--- Show an answer; one to a further question takes the place of the one before.
---@param answer mercury.Answer
---@param argument table of the command that was answered
function M.show(answer, argument)
  local here = vim.api.nvim_get_current_buf()
  local bufnr = M.of(here) and here or window()
  vim.b[bufnr].mercury_answer = { uri = argument.uri, range = argument.range, conversation = answer.conversation }
  fill(bufnr, answer.answer)
end

return M
