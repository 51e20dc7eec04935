--- The edit that is likely to come next: asked for when a change has come to rest, jumped to, accepted, dismissed. Draws nothing itself.

local client = require('mercury.client')
local config = require('mercury.config')
local view = require('mercury.edit_view')

local M = {}

local METHOD = 'mercury/nextEdit'
local DID_SHOW = 'textDocument/didShowInlineEdit'
local REJECTED = 'github.copilot.didRejectNextEditSuggestionItem'

---@type mercury.Edit?
local shown
---@type { raw: table, bufnr: integer }? an edit of another file, and the buffer in which that is said
local elsewhere
local timer = assert(vim.uv.new_timer())
local asked = 0

--- What the server sent, in this buffer's rows and byte columns; nil where it is for another buffer or another version.
---@param raw table
---@param bufnr integer
---@param encoding string
---@return mercury.Edit?
local function read(raw, bufnr, encoding)
  local document = raw.textDocument or {}
  local known = type(document.version) == 'number' -- not for a file that is not open
  if document.uri ~= vim.uri_from_bufnr(bufnr) or (known and document.version ~= vim.lsp.util.buf_versions[bufnr]) then
    return nil
  end
  local lines = vim.api.nvim_buf_line_count(bufnr)
  local start, finish = raw.range.start, raw.range['end']
  local function column(place)
    local line = vim.api.nvim_buf_get_lines(bufnr, place.line, place.line + 1, false)[1] or ''
    local bytes = vim.fn.has('nvim-0.11') == 1 and vim.str_byteindex(line, encoding, place.character, false)
      or vim.lsp.util._str_byteindex_enc(line, place.character, encoding)
    return bytes
  end
  local last, to = finish.line, column(finish)
  local new = (raw.text or raw.newText):gsub('\r\n', '\n')
  if last >= lines then -- the place behind the last line break
    last = lines - 1
    to = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1]
    new = new:gsub('\n$', '')
  end
  if start.line > last then
    return nil
  end
  return { bufnr = bufnr, first = start.line, from = column(start), last = last, to = to, new = new, label = raw.label or '', raw = raw }
end

local function forget()
  for _, drawn in ipairs({ shown or elsewhere }) do
    view.clear(drawn.bufnr)
  end
  shown, elsewhere = nil, nil
end

---@return boolean
function M.visible()
  local here = vim.api.nvim_get_current_buf()
  return (shown ~= nil and shown.bufnr == here) or (elsewhere ~= nil and elsewhere.bufnr == here)
end

---@return string
local function key() return config.options.keys.accept or ':Mercury accept' end

---@param raw table
---@param server vim.lsp.Client
local function told_shown(raw, server)
  if raw.command then
    client.notify(server, DID_SHOW, { item = { command = raw.command } })
  end
end

---@param edit mercury.Edit
local function show(edit)
  forget()
  shown = edit
  view.draw(edit, key())
end

--- Show where an edit of another file is; it is shown itself when that is jumped to.
---@param raw table
---@param bufnr integer
local function point(raw, bufnr)
  forget()
  elsewhere = { raw = raw, bufnr = bufnr }
  local name = vim.fn.fnamemodify(vim.uri_to_fname(raw.jump.uri), ':.')
  view.point(bufnr, key(), name .. ':' .. (raw.jump.position.line + 1), raw.label or '')
end

--- What is complained of in a buffer, as the protocol says it.
---@param bufnr integer
---@param encoding string
---@return table[]
local function complaints(bufnr, encoding)
  local function place(row, byte) return { line = row, character = vim.lsp.util.character_offset(bufnr, row, byte, encoding) } end
  return vim.tbl_map(function(each)
    local finish = place(each.end_lnum or each.lnum, each.end_col or each.col)
    return { range = { start = place(each.lnum, each.col), ['end'] = finish }, message = each.message, severity = each.severity }
  end, vim.diagnostic.get(bufnr))
end

--- Ask now.
function M.ask()
  local bufnr = vim.api.nvim_get_current_buf()
  local server = client.get(bufnr)
  if not server or vim.bo[bufnr].buftype ~= '' then
    return
  end
  asked = asked + 1
  local ask, tick = asked, vim.api.nvim_buf_get_changedtick(bufnr)
  local said = { context = { triggerKind = 2 }, diagnostics = complaints(bufnr, server.offset_encoding) }
  local params = vim.tbl_extend('error', client.place(server, bufnr), said)
  client.request(server, METHOD, params, function(err, result)
    local stale = ask ~= asked or not vim.api.nvim_buf_is_valid(bufnr) or tick ~= vim.api.nvim_buf_get_changedtick(bufnr)
    if err or stale or not result or not result.edits or not result.edits[1] then
      return
    end
    local raw = result.edits[1]
    local edit = read(raw, bufnr, server.offset_encoding)
    if bufnr ~= vim.api.nvim_get_current_buf() then
      return
    elseif edit then
      show(edit)
      told_shown(raw, server)
    elseif type(raw.jump) == 'table' then
      point(raw, bufnr)
      told_shown(raw, server)
    end
  end, bufnr)
end

--- Ask when nothing has changed for a while.
function M.ask_soon()
  timer:start(config.options.next_edit.debounce, 0, function() vim.schedule(M.ask) end)
end

---@param edit mercury.Edit
local function jump(edit)
  vim.cmd("normal! m'") -- `<C-o>` leads back
  local line = vim.api.nvim_buf_get_lines(edit.bufnr, edit.first, edit.first + 1, false)[1] or ''
  vim.api.nvim_win_set_cursor(0, { edit.first + 1, math.min(edit.from, #line) })
  vim.cmd('normal! zv')
  view.draw(edit, key())
end

--- Open the file that an edit is of.
---@param raw table
local function open(raw)
  local place = { start = raw.jump.position, ['end'] = raw.jump.position }
  forget()
  vim.lsp.util.show_document({ uri = raw.jump.uri, range = place }, 'utf-16', { focus = true })
  local edit = read(raw, vim.api.nvim_get_current_buf(), 'utf-16')
  if edit then
    show(edit)
  end
end

---@param edit mercury.Edit
local function apply(edit)
  forget()
  local lines = vim.split(edit.new, '\n', { plain = true })
  vim.api.nvim_buf_set_text(edit.bufnr, edit.first, edit.from, edit.last, edit.to, lines)
  local column = (#lines == 1 and edit.from or 0) + #lines[#lines]
  vim.api.nvim_win_set_cursor(0, { edit.first + #lines, column })
  local server = client.get(edit.bufnr)
  if server and edit.raw.command then
    client.execute(server, edit.raw.command, edit.bufnr)
  end
  M.ask_soon()
end

--- Jump to the edit that is shown, or accept it where the cursor is there already.
---@return boolean whether there was one
function M.accept()
  if not M.visible() then
    return false
  end
  local edit, far = shown, elsewhere
  vim.schedule(function() -- an `expr` mapping may not change text
    if far then
      open(far.raw)
    elseif edit and view.near(edit) then
      apply(edit)
    elseif edit then
      jump(edit)
    end
  end)
  return true
end

---@return boolean
function M.dismiss()
  local drawn = shown or elsewhere
  if not drawn or not M.visible() then
    return false
  end
  local server, command = client.get(drawn.bufnr), drawn.raw.command
  if server and command then
    client.execute(server, { title = '', command = REJECTED, arguments = command.arguments }, drawn.bufnr)
  end
  forget()
  asked = asked + 1
  return true
end

local function changed()
  forget()
  asked = asked + 1
  M.ask_soon()
end

--- Ask after changes, or stop that.
---@param on boolean
function M.enable(on)
  local group = vim.api.nvim_create_augroup('mercury.next_edit', {})
  forget()
  timer:stop()
  if not on then
    return
  end
  vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, { group = group, callback = changed })
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'BufLeave' }, {
    group = group,
    callback = function()
      forget()
      timer:stop()
    end,
  })
  vim.api.nvim_create_autocmd('CursorMoved', {
    group = group,
    callback = function()
      if shown and M.visible() then
        view.draw(shown, key())
      end
    end,
  })
end

return M
