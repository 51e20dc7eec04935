--- The keys: each does ours where there is something to do, and what it did before where there is not. Knows no server.

local M = {}

---@param mode string
---@param key string
---@param before table a mapping as `maparg` gives it, {} for none
---@return string keys to go on with
local function as_before(mode, key, before)
  if vim.tbl_isempty(before) then
    return vim.keycode(key)
  end
  local function replaced(keys) return before.replace_keycodes == 1 and vim.keycode(keys) or keys end
  if before.callback then
    local result = before.callback()
    return before.expr == 1 and type(result) == 'string' and replaced(result) or ''
  end
  if before.expr == 1 then
    return replaced(vim.api.nvim_eval(before.rhs))
  end
  vim.api.nvim_feedkeys(vim.keycode(before.rhs), before.noremap == 1 and 'n' or 'm', false)
  return ''
end

--- Map a key. `act` returns false where there is nothing for it to do.
---@param mode string
---@param key string|false
---@param description string
---@param act fun(): boolean?
function M.map(mode, key, description, act)
  if not key then
    return
  end
  local before = vim.fn.maparg(key, mode, false, true)
  if before.desc == description then -- ours, from an earlier `setup`
    vim.keymap.del(mode, key)
    before = {}
  end
  vim.keymap.set(mode, key, function()
    if act() ~= false then
      return ''
    end
    return as_before(mode, key, before)
  end, { expr = true, replace_keycodes = false, desc = description })
end

--- Whether another feature of the editor waits for the key: a menu, or a snippet's next place.
---@return boolean
function M.taken() return vim.fn.pumvisible() == 1 or (vim.snippet ~= nil and vim.snippet.active({ direction = 1 })) end

return M
