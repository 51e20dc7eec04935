--- mercury-lsp: completions from a diffusion language model that runs on this machine.
---
--- Put `editors/neovim` on the runtimepath (or copy this file to `lsp/` in your configuration), then:
---
---     vim.lsp.enable('copilot_mercury')
---
--- Neovim 0.12 shows the suggestions itself; choose a key to accept them with:
---
---     vim.lsp.inline_completion.enable()
---     vim.keymap.set('i', '<Tab>', function()
---       if not vim.lsp.inline_completion.get() then return '<Tab>' end
---     end, { expr = true })
---
--- On 0.11 a plugin shows them. Plugins look for a client with "copilot" in its name, hence the name of this file.
---
--- Settings go under `mercury`; what is left out has its default:
---
---     vim.lsp.config('copilot_mercury', { settings = { mercury = { languages = { markdown = false } } } })

local modern = vim.fn.has('nvim-0.11') == 1

--- One server, and so one model in memory, for the files of all folders. It hears of a new folder.
---@param client vim.lsp.Client
---@param config vim.lsp.ClientConfig
local function reuse(client, config)
  if client.name ~= config.name or client.is_stopped(client) then
    return false
  end
  local known = client.workspace_folders or {}
  local folder = config.root_dir
  if folder and not vim.iter(known):any(function(each) return each.name == folder end) then
    local added = { uri = vim.uri_from_fname(folder), name = folder }
    client.workspace_folders = vim.list_extend(known, { added })
    local params = { event = { added = { added }, removed = {} } }
    if modern then
      client:notify('workspace/didChangeWorkspaceFolders', params)
    else
      client.notify('workspace/didChangeWorkspaceFolders', params)
    end
  end
  return true
end

---@type vim.lsp.Config
return {
  cmd = { 'mercury-lsp' },
  root_markers = { '.git' },
  reuse_client = reuse,
  -- No `filetypes`: every language, unless the `languages` setting says otherwise.
  settings = { mercury = vim.empty_dict() },
  -- Said for Neovim 0.11, where plugins show suggestions: the server would else send them as items of the ordinary menu, too.
  capabilities = { textDocument = { inlineCompletion = { dynamicRegistration = false } } },
}
