--- `:Mercury` and its sub-commands, with ranges. Knows no key.

local answers = require('mercury.answers')
local client = require('mercury.client')

local M = {}

---@alias mercury.Range { first: integer, last: integer } lines from 1

---@param event vim.api.keyset.create_user_command.command_args
---@return mercury.Range
local function range_of(event) return { first = event.line1, last = event.line2 } end

--- What a command with a range is about, in the protocol's positions: the characters that were selected last where the range is
--- theirs, else whole lines.
---@param event vim.api.keyset.create_user_command.command_args
---@return lsp.Range? nil without a range
local function selected(event)
  if event.range == 0 then
    return nil
  end
  local from, to = vim.api.nvim_buf_get_mark(0, '<'), vim.api.nvim_buf_get_mark(0, '>')
  local by_characters = vim.fn.visualmode() == 'v' and from[1] == event.line1 and to[1] == event.line2
  local last = vim.api.nvim_buf_get_lines(0, event.line2 - 1, event.line2, false)[1] or ''
  local start = { event.line1, by_characters and from[2] or 0 }
  local finish = { event.line2, by_characters and math.min(to[2], #last) or math.max(#last - 1, 0) }
  return vim.lsp.util.make_given_range_params(start, finish, 0, 'utf-16').range
end

--- The server's code actions for lines, and no other server's.
---@param range mercury.Range
local function code_actions(range)
  local last = vim.api.nvim_buf_get_lines(0, range.last - 1, range.last, false)[1] or ''
  vim.lsp.buf.code_action({
    range = { start = { range.first, 0 }, ['end'] = { range.last, #last } },
    filter = function(_, id)
      local server = id and vim.lsp.get_client_by_id(id)
      return not server or server.name == client.NAME
    end,
  })
end

---@type table<string, { about: string, run: fun(event: vim.api.keyset.create_user_command.command_args, rest: string) }>
M.commands = {
  toggle = { about = 'suggestions and next edits on or off', run = function() require('mercury').toggle() end },
  enable = { about = 'suggestions and next edits on', run = function() require('mercury').toggle(true) end },
  disable = { about = 'suggestions and next edits off', run = function() require('mercury').toggle(false) end },
  accept = { about = 'accept what is shown, or jump to it', run = function() require('mercury').accept() end },
  dismiss = { about = 'take away what is shown', run = function() require('mercury').dismiss() end },
  nextedit = { about = 'ask for the next edit', run = function() require('mercury').next_edit() end },
  restart = { about = 'restart the server', run = function() require('mercury').restart() end },
  status = {
    about = 'what the server is at',
    run = function()
      local status = require('mercury').status()
      vim.notify('mercury: ' .. (status.text ~= '' and status.text or status.state))
    end,
  },
  log = { about = 'open the log', run = function() vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename())) end },
  refactor = { about = 'choose a refactoring of the lines', run = function(event) code_actions(range_of(event)) end },
}

--- What the server has for commands, by the names that follow `:Mercury`. It says so when it starts.
---@return table<string, string>
local function served()
  local found = {}
  local server = client.get()
  local provider = server and server.server_capabilities.executeCommandProvider
  for _, command in ipairs(provider and provider.commands or {}) do
    local name = command:match('^mercury%.(%l%w*)$')
    if name and name ~= 'didAcceptCompletionItem' then
      found[name] = command
    end
  end
  return found
end

--- What a command is about: the lines or the cursor, or what the answer in this window was about.
---@param event vim.api.keyset.create_user_command.command_args
---@param instruction string
---@return table argument
local function argument(event, instruction)
  local bufnr = vim.api.nvim_get_current_buf()
  local asked = answers.of(bufnr)
  if asked then
    return vim.tbl_extend('error', asked, { question = instruction, block = tonumber(instruction) })
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local at = { cursor[1], cursor[2] }
  local range = selected(event) or vim.lsp.util.make_given_range_params(at, at, 0, 'utf-16').range
  if event.range == 0 then
    range['end'] = range.start
  end
  return { uri = vim.uri_from_bufnr(bufnr), range = range, instruction = instruction }
end

--- Run a command of the server's. What is said after its name is its instruction.
---@param command string
---@param event vim.api.keyset.create_user_command.command_args
---@param instruction string
local function serve(command, event, instruction)
  local sent, server = argument(event, instruction), assert(client.get())
  client.execute(server, { title = command, command = command, arguments = { sent } }, 0, function(err, result)
    if err then
      vim.notify('mercury: ' .. err.message, vim.log.levels.ERROR)
    elseif type(result) == 'table' and result.answer then
      answers.show(result, sent)
    end
  end)
end

---@return string[]
local function names()
  local found = vim.list_extend(vim.tbl_keys(M.commands), vim.tbl_keys(served()))
  table.sort(found)
  return found
end

---@param event vim.api.keyset.create_user_command.command_args
local function run(event)
  local name, rest = event.args:match('^(%S*)%s*(.*)$')
  local command, command_of_server = M.commands[name == '' and 'status' or name], served()[name]
  if command then
    command.run(event, rest)
  elseif command_of_server then
    serve(command_of_server, event, rest)
  else
    vim.notify(('mercury: no sub-command %q; there are %s'):format(name, table.concat(names(), ', ')), vim.log.levels.ERROR)
  end
end

function M.create()
  vim.api.nvim_create_user_command('Mercury', run, {
    nargs = '*',
    range = true,
    desc = 'mercury-lsp',
    complete = function(lead, line)
      if #vim.split(line, '%s+') > 2 then
        return {}
      end
      return vim.tbl_filter(function(name) return vim.startswith(name, lead) end, names())
    end,
  })
end

return M
