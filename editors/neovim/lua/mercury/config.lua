--- What a user may set, with its defaults, and what is wrong with what was set. Knows no server.

local M = {}

---@class mercury.Suggestions
---@field enabled boolean
---@field debounce integer milliseconds from a key to the request; 0.12 shows suggestions itself and waits 200
---@field builtin boolean leave it to Neovim's own inline completion where it has one

---@class mercury.NextEdit
---@field enabled boolean
---@field debounce integer milliseconds of rest after a change

---@class mercury.Keys each a key as in a mapping, or false for none
---@field accept string|false a suggestion (insert mode), a next edit (normal mode); does what it did before where there is neither
---@field accept_word string|false
---@field accept_line string|false
---@field next string|false
---@field prev string|false
---@field dismiss string|false a suggestion
---@field dismiss_edit string|false a next edit; does what it did before where there is none

---@class mercury.Config
---@field cmd string[]
---@field root_markers string[]
---@field filetypes? string[] nil: all
---@field settings table the server's, see `:help mercury-settings`
---@field suggestions mercury.Suggestions
---@field next_edit mercury.NextEdit
---@field keys mercury.Keys

---@type mercury.Config
M.defaults = {
  cmd = { 'mercury-lsp' },
  root_markers = { '.git' },
  filetypes = nil,
  settings = {},
  suggestions = { enabled = true, debounce = 40, builtin = true },
  next_edit = { enabled = true, debounce = 250 },
  keys = {
    accept = '<Tab>',
    accept_word = '<M-Right>',
    accept_line = '<M-Down>',
    next = '<M-]>',
    prev = '<M-[>',
    dismiss = '<C-]>',
    dismiss_edit = '<Esc>',
  },
}

--- Beside the type of the default, what a key may also hold.
local ALSO = { ['keys'] = 'boolean', ['filetypes'] = 'table' }

---@type mercury.Config
M.options = vim.deepcopy(M.defaults)

---@param given table
---@param known table
---@param path string
---@param bad string[]
local function check(given, known, path, bad)
  for key, value in pairs(given) do
    local name = path == '' and key or (path .. '.' .. key)
    local default = known[key]
    local also = ALSO[path] or ALSO[key]
    if default == nil and not ALSO[key] then
      table.insert(bad, ('%s: no such option'):format(name))
    elseif type(value) ~= type(default) and not (type(value) == also and value ~= true) then
      table.insert(bad, ('%s: expected %s, got %s'):format(name, type(default), type(value)))
    elseif type(value) == 'table' and not vim.islist(default or {}) and key ~= 'settings' then
      check(value, default, name, bad)
    end
  end
end

--- Take the user's options. What is wrong is named, and its default stays.
---@param given? table
---@return string[] what is wrong
function M.read(given)
  local bad = {}
  check(given or {}, M.defaults, '', bad)
  M.options = #bad == 0 and vim.tbl_deep_extend('force', vim.deepcopy(M.defaults), given or {}) or vim.deepcopy(M.defaults)
  return bad
end

return M
