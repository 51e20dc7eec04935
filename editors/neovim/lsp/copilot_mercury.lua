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

---@type vim.lsp.Config
return {
  cmd = { 'mercury-lsp' },
  root_markers = { '.git' },
  -- No `filetypes`: every language, unless the `languages` setting says otherwise.
  settings = { mercury = vim.empty_dict() },
}
