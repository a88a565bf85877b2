-- Journeys 1 and 2 in an unmodified Neovim (0.7 and later): its built-in client, no plugin of ours.
--
-- The same Neovim plays the agent, by custom requests over its client, and the person, by what any Neovim user has:
-- diagnostics, `vim.lsp.buf.code_action()` and the choice in `vim.ui.select`. Waits are for conditions, each bounded.

local place = assert(os.getenv('ESCROW_TEST_PLACE'), 'run me by nvim.sh')
local project = place .. '/project'
local patience_ms = 15000

local function say(line)
  io.stdout:write(line .. '\n')
  io.stdout:flush()
end

local passed = 0
local function step(name, body)
  local ok, why = xpcall(body, function(err) return type(err) == 'string' and err or vim.inspect(err) end)
  if ok then
    passed = passed + 1
    say('ok   - ' .. name)
    return
  end
  say('FAIL - ' .. name .. ': ' .. why)
  error({ stop = true })
end

local function expect(condition, why, ...)
  if not condition then error(string.format(why, ...), 0) end
  return condition
end

local function wait_for(what, condition)
  local value
  local done = vim.wait(patience_ms, function()
    value = condition()
    return value
  end, 10)
  expect(done, 'waited %d s for %s', patience_ms / 1000, what)
  return value
end

-- The person. Nobody answers a question that blocks the screen: what Escape gives is "undecided".
local questions = {}
vim.fn.inputlist = function(lines)
  table.insert(questions, lines[1])
  return 0
end

--- True if the title begins so, after the name that tells whose action it is.
local function titled(action, beginning)
  return vim.startswith(action.title, 'Escrow: ' .. beginning)
end

local offered, wanted = {}, nil
vim.ui.select = function(items, options, choose)
  offered = {}
  local chosen
  for _, item in ipairs(items) do
    local action = item.action or item[2] -- 0.10 and later, or earlier
    table.insert(offered, action)
    if wanted and titled(action, wanted) then chosen = chosen or item end
  end
  if options.kind ~= 'codeaction' then chosen = nil end
  choose(chosen)
end

local complaints = {}
vim.notify = function(message, level)
  if level == vim.log.levels.ERROR then table.insert(complaints, message) end
end

--- Puts the cursor on `lnum` (0-based) and takes the action whose title begins with `title`; gives all that were listed.
local function take_action(lnum, title)
  vim.api.nvim_win_set_cursor(0, { lnum + 1, 0 })
  offered, wanted = {}, title
  vim.lsp.buf.code_action()
  wait_for('code actions on line ' .. lnum + 1, function() return #offered > 0 end)
  return offered
end

local function titles(actions)
  return vim.tbl_map(function(action) return action.title end, actions)
end

local function expect_order(actions, beginnings)
  local seen = table.concat(titles(actions), ' | ')
  expect(#actions == #beginnings, 'wanted %d actions, got: %s', #beginnings, seen)
  for i, beginning in ipairs(beginnings) do
    expect(titled(actions[i], beginning), 'action %d is not "%s…": %s', i, beginning, seen)
    expect(not actions[i].edit and actions[i].command, '"%s" is not a mere command', actions[i].title)
    expect(not actions[i].isPreferred, '"%s" would be taken unasked', actions[i].title)
  end
end

local function ours(bufnr)
  return vim.tbl_filter(function(d) return d.source == 'escrow' end, vim.diagnostic.get(bufnr))
end

local function code_of(diagnostic)
  return diagnostic.code or (diagnostic.user_data and diagnostic.user_data.lsp and diagnostic.user_data.lsp.code)
end

local function with_code(code, bufnr)
  for _, diagnostic in ipairs(ours(bufnr)) do
    if code_of(diagnostic) == code then return diagnostic end
  end
end

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

local client, exit_code

--- Sends a custom request; `answer.done` turns true when its answer is there.
local function send(method, params)
  local answer = { done = false }
  client.request(method, params, function(err, result)
    answer.done, answer.err, answer.result = true, err, result
  end)
  return answer
end

local function ask(method, params)
  local answer = send(method, params)
  wait_for('the answer to ' .. method, function() return answer.done end)
  expect(not answer.err, '%s: %s', method, vim.inspect(answer.err))
  return answer.result
end

local client_js, config_js = project .. '/src/client.js', project .. '/src/config.js'
local agent, review

local function journeys()
  step('the server starts in the repository', function()
    vim.cmd('edit ' .. client_js)
    local id = expect(vim.lsp.start_client({
      name = 'escrow',
      cmd = { 'escrow_lsp' },
      root_dir = project,
      on_exit = function(code) exit_code = code end,
    }), 'the client did not start')
    vim.lsp.buf_attach_client(0, id)
    client = vim.lsp.get_client_by_id(id)
    wait_for('the handshake', function() return client.initialized or exit_code end)
    expect(not exit_code, 'the server ended with %s', tostring(exit_code))
    expect(client.server_capabilities.executeCommandProvider, 'no commands in its capabilities')
  end)

  step('an agent in this editor registers', function()
    agent = ask('escrow/agent/register', { name = 'Test agent' })
    expect(agent.agentId and agent.token, 'no credential: %s', vim.inspect(agent))
  end)

  step('a change that carries a key and trusts any certificate takes the high lane', function()
    local key = table.concat({ 'gh', 'p_', 'Rt6mW0', 'qZx81L', 'bVn3Kd', 'Yc7Hf2', 'sJg5Pu', 'Ea9TiX' })
    review = ask('escrow/proposeDiff', {
      agentId = agent.agentId,
      token = agent.token,
      callId = 'change-1',
      title = 'Make the client work behind the proxy',
      change = {
        form = 'files',
        files = {
          { uri = vim.uri_from_fname(client_js), newText = (read(client_js):gsub('rejectUnauthorized: true', 'rejectUnauthorized: false')) },
          { uri = vim.uri_from_fname(config_js), newText = (read(config_js):gsub('process%.env%.API_TOKEN', "'" .. key .. "'")) },
        },
      },
    })
    expect(review.lane == 'high' and review.state == 'pending', 'lane %s, state %s', review.lane, review.state)
  end)

  step('its diagnostics stand on the very lines, in the open file and in the other', function()
    local tls = wait_for('a diagnostic tls-verify-off', function() return with_code('tls-verify-off', 0) end)
    expect(tls.lnum == 6, 'tls-verify-off is on line %d, not 7', tls.lnum + 1)
    expect(tls.severity == vim.diagnostic.severity.ERROR, 'tls-verify-off has severity %d', tls.severity)
    local key = wait_for('a diagnostic secret-literal', function() return with_code('secret-literal') end)
    expect(vim.api.nvim_buf_get_name(key.bufnr) == config_js, 'secret-literal is on %s', vim.api.nvim_buf_get_name(key.bufnr))
    expect(key.lnum == 1, 'secret-literal is on line %d, not 2', key.lnum + 1)
    for _, diagnostic in ipairs(ours()) do
      expect(not diagnostic.message:find('Rt6mW0qZx81L', 1, true), 'a message spells the key: %s', diagnostic.message)
    end
  end)

  step('a hover tells why', function()
    local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', {
      textDocument = vim.lsp.util.make_text_document_params(),
      position = { line = 6, character = 6 },
    }, patience_ms)
    local hover = answers and answers[client.id] and answers[client.id].result
    expect(hover and hover.contents, 'no hover: %s', vim.inspect(answers))
    local text = table.concat(vim.lsp.util.convert_input_to_markdown_lines(hover.contents), '\n')
    expect(text:find('CWE-295', 1, true), 'the hover does not name CWE-295:\n%s', text)
  end)

  local waiting
  step('a call that needs the person is shown on the first line of the file at hand', function()
    waiting = send('escrow/toolCall', {
      agentId = agent.agentId,
      token = agent.token,
      callId = 'install-1',
      tool = 'shell',
      subject = { kind = 'shell', command = 'npm install left-pad', cwd = vim.uri_from_fname(project) },
      runner = 'escrow',
      wait = 'human',
    })
    local asked = wait_for('the pending call as a diagnostic', function()
      if waiting.done then return waiting end
      for _, diagnostic in ipairs(ours(0)) do
        if diagnostic.message:find('npm install left-pad', 1, true) then return diagnostic end
      end
    end)
    expect(not waiting.done, 'it was answered unasked: %s', vim.inspect(waiting))
    expect(asked.lnum == 0, 'it is on line %d', asked.lnum + 1)
  end)

  step('its code actions come in the order of the contract, and looking at them decides nothing', function()
    local actions = take_action(0, nil)
    expect_order(actions, { 'Show', 'Deny', 'Allow once', 'Allow for this session', 'Always allow here' })
    expect(not waiting.done, 'listing the actions answered the call')
  end)

  step('*Allow once* answers the waiting call', function()
    take_action(0, 'Allow once')
    wait_for('the waiting call', function() return waiting.done end)
    expect(not waiting.err, 'the call failed: %s', vim.inspect(waiting.err))
    expect(waiting.result.decision == 'allow', 'decision %s', vim.inspect(waiting.result))
    expect(#(waiting.result.executionToken or '') > 0, 'no execution token')
    wait_for('the question to be gone', function()
      return #vim.tbl_filter(function(d) return d.message:find('npm install', 1, true) end, ours(0)) == 0
    end)
  end)

  step('"once" was once: the same command asks again', function()
    local again = ask('escrow/toolCall', {
      agentId = agent.agentId,
      token = agent.token,
      callId = 'install-2',
      tool = 'shell',
      subject = { kind = 'shell', command = 'npm install left-pad', cwd = vim.uri_from_fname(project) },
      runner = 'escrow',
    })
    expect(again.decision == 'pending', 'decision %s', again.decision)
    wait_for('the question', function()
      return #vim.tbl_filter(function(d) return d.message:find('npm install', 1, true) end, ours(0)) > 0
    end)
    take_action(0, 'Deny')
    wait_for('the question to be gone', function()
      return #vim.tbl_filter(function(d) return d.message:find('npm install', 1, true) end, ours(0)) == 0
    end)
  end)

  step('the change is refused until it is approved', function()
    local answer = send('escrow/apply', {
      agentId = agent.agentId, token = agent.token, reviewId = review.reviewId, revision = review.revision,
    })
    wait_for('the answer to escrow/apply', function() return answer.done end)
    expect(answer.err and answer.err.code == 4009, 'wanted error 4009, got %s', vim.inspect(answer))
    expect(read(config_js):find('process.env.API_TOKEN', 1, true), 'the file changed all the same')
  end)

  step('*Approve* and apply: the buffer and the unopened file hold the change', function()
    local actions = take_action(6, 'Approve all')
    expect(titled(actions[1], 'Show'), 'the first action is not Show: %s', table.concat(titles(actions), ' | '))
    wait_for('the approval', function() return ask('escrow/review/get', { reviewId = review.reviewId }).state == 'approved' end)
    local applied = ask('escrow/apply', {
      agentId = agent.agentId, token = agent.token, reviewId = review.reviewId, revision = review.revision,
    })
    expect(applied.state == 'applied', 'state %s: %s', applied.state, vim.inspect(applied))
    local line = vim.api.nvim_buf_get_lines(0, 6, 7, false)[1]
    expect(line == '    rejectUnauthorized: false,', 'line 7 of the buffer: %s', line)
    expect(not read(config_js):find('process.env.API_TOKEN', 1, true), '%s is as before', config_js)
    wait_for('its diagnostics to be gone', function() return not with_code('tls-verify-off') and not with_code('secret-literal') end)
  end)

  step('the editor never saw an error, and the server ends when told to', function()
    expect(#complaints == 0, 'shown to the person: %s', table.concat(complaints, ' | '))
    client.stop()
    wait_for('the server to end', function() return exit_code end)
    expect(exit_code == 0, 'exit code %d', exit_code)
  end)
end

local ok, err = pcall(journeys)
local version = vim.version()
say(string.format('nvim %d.%d.%d: %d passed, %d failed', version.major, version.minor, version.patch, passed, ok and 0 or 1))
if ok then
  vim.cmd('qall!')
else
  if not (type(err) == 'table' and err.stop) then say(tostring(err)) end
  vim.cmd('cquit 1')
end
