-- The configuration of `./dev demo --nvim`, driven headless: what it promises the person is there, and clicking works.

local said = {}
vim.notify = function(message) table.insert(said, message) end

local wanted
vim.ui.select = function(items, _, choose)
  for _, item in ipairs(items) do
    local action = item.action or item[2]
    if wanted and vim.startswith(action.title, 'Escrow: ' .. wanted) then return choose(item) end
  end
  choose(nil)
end

local function wait_for(what, condition)
  if vim.wait(20000, condition, 10) then return end
  local lines = { 'waited 20 s for ' .. what, 'said: ' .. table.concat(said, ' | ') }
  for _, d in ipairs(vim.diagnostic.get()) do
    table.insert(lines, vim.api.nvim_buf_get_name(d.bufnr) .. ':' .. d.lnum + 1 .. ' ' .. d.message)
  end
  error(table.concat(lines, '\n'), 0)
end

local function shown(lnum, text)
  for _, d in ipairs(vim.diagnostic.get(0, { lnum = lnum })) do
    if d.message:find(text, 1, true) then return true end
  end
end

local function click(lnum, title)
  vim.api.nvim_win_set_cursor(0, { lnum + 1, 0 })
  wanted = title
  vim.lsp.buf.code_action()
end

local function has_said(text)
  return function()
    for _, message in ipairs(said) do
      if message:find(text, 1, true) then return true end
    end
  end
end

local function look_and_click()
  wait_for('the call that waits, on line 1', function() return shown(0, 'npm install') end)
  wait_for('the change that waits, on line 6', function() return shown(5, 'verif') end)
  assert(#vim.api.nvim_list_wins() == 2, 'the guide is not shown')
  click(0, 'Allow once')
  wait_for('the agent to tell how its command ended', has_said('its command ended with'))
  click(5, 'Approve all')
  wait_for('the agent to apply its change', has_said('its change is applied'))
  wait_for('the line in the buffer', function()
    return vim.api.nvim_buf_get_lines(0, 5, 6, false)[1] == '  rejectUnauthorized: false,'
  end)
end

-- Only then is everything there that the configuration promises.
vim.api.nvim_create_autocmd('VimEnter', {
  callback = vim.schedule_wrap(function()
    local ok, why = pcall(look_and_click)
    io.stdout:write(ok and 'demo --nvim: 1 passed, 0 failed\n' or 'FAIL - ' .. why .. '\ndemo --nvim: 0 passed, 1 failed\n')
    vim.cmd(ok and 'qall!' or 'cquit 1')
  end),
})
