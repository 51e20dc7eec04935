-- A plugin for tests that does with next edits what plugins for Copilot do: asks a client by its name when the text was changed and when
-- insert mode is left, drops what is about another version, shows one edit, applies it and runs its command.

local M = { shown = nil, asked = 0, dropped = 0, ran = {} }

local function client(buf)
  for _, each in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    if each.name:lower():find('copilot') then
      return each
    end
  end
end

local function answered(buf, err, result, version)
  M.shown = nil
  if err or not result then
    M.failed = err
    return
  end
  for _, edit in ipairs(result.edits) do
    if edit.textDocument.version == vim.lsp.util.buf_versions[buf] and version == vim.lsp.util.buf_versions[buf] then
      M.shown = edit
    else
      M.dropped = M.dropped + 1
    end
  end
end

function M.ask()
  local buf = vim.api.nvim_get_current_buf()
  local each = client(buf)
  M.shown = nil
  if not each then
    return
  end
  local params = vim.lsp.util.make_position_params(0, each.offset_encoding)
  params.textDocument.version = vim.lsp.util.buf_versions[buf]
  params.context = { triggerKind = 2 }
  each:request('textDocument/copilotInlineEdit', params, function(err, result)
    M.asked = M.asked + 1
    answered(buf, err, result, params.textDocument.version)
  end)
end

function M.apply()
  local buf, edit = vim.api.nvim_get_current_buf(), M.shown
  local each = client(buf)
  M.shown = nil
  vim.lsp.util.apply_text_edits({ { range = edit.range, newText = edit.text } }, buf, each.offset_encoding)
  each:exec_cmd(edit.command, { bufnr = buf }, function(err)
    table.insert(M.ran, { command = edit.command.command, err = err and err.message or nil })
  end)
end

function M.setup()
  vim.api.nvim_create_autocmd({ 'TextChanged' }, { callback = M.ask })
  vim.api.nvim_create_autocmd({ 'ModeChanged' }, { pattern = 'i:n', callback = M.ask })
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'InsertEnter' }, {
    callback = function()
      M.shown = nil
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufEnter' }, {
    callback = function(event)
      local each = client(event.buf)
      if each then
        each:notify('textDocument/didFocus', { textDocument = { uri = vim.uri_from_bufnr(event.buf) } })
      end
    end,
  })
end

return M
