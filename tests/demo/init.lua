-- All that Neovim (0.7 and later) needs for Escrow: start the server, attach every file to it. The rest is Neovim's own.

local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
local agent = dofile(here .. '/agent.lua')

vim.o.number = true
vim.o.signcolumn = 'yes'
vim.o.autoread = true
vim.keymap.set('n', 'ga', vim.lsp.buf.code_action)
vim.keymap.set('n', 'K', vim.lsp.buf.hover)

local capabilities = vim.lsp.protocol.make_client_capabilities()
capabilities.experimental = { escrow = { version = 1, notifications = { 'review', 'exec' } } }

local client_id
local function attach(buffer)
  if vim.bo[buffer].buftype ~= '' or vim.api.nvim_buf_get_name(buffer) == '' then return end
  client_id = client_id or vim.lsp.start_client({
    name = 'escrow',
    cmd = { assert(os.getenv('ESCROW_BIN'), 'ESCROW_BIN is not set: start me by ./dev demo --nvim'), 'lsp' },
    root_dir = vim.fn.getcwd(),
    capabilities = capabilities,
    handlers = {
      -- Neovim 0.7 stops everything for such a question; the lightbulb asks the same without a hurry.
      ['window/showMessageRequest'] = function() return vim.NIL end,
      ['escrow/review/changed'] = agent.on_review_changed,
      ['escrow/execute/exited'] = agent.on_exited,
    },
    on_init = function(client) agent.start(client, vim.fn.getcwd()) end,
  })
  vim.lsp.buf_attach_client(buffer, client_id)
end
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, { callback = function(args) attach(args.buf) end })

local guide = {
  'An agent in this editor waits for you. Line 1: it wants `npm install left-pad`.',
  'Line 6, and src/config.js: it proposes a change; look before you approve.',
  '  ga  :lua vim.lsp.buf.code_action()    what you may do about the line',
  '  K   :lua vim.lsp.buf.hover()          why: each signal and its points',
  '      :lua vim.diagnostic.setloclist()  what waits here; setqflist(): everywhere',
  'What you allow runs in the sandbox; what you approve is applied. :qa! leaves.',
}

vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    vim.cmd('botright ' .. #guide .. 'new')
    vim.api.nvim_buf_set_lines(0, 0, -1, false, guide)
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.modifiable = 'nofile', 'wipe', false
    vim.wo.number, vim.wo.signcolumn, vim.wo.winfixheight = false, 'no', true
    vim.cmd('wincmd p')
  end,
})
