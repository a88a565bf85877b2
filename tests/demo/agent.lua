-- The agent of `./dev demo --nvim`: it lives in the editor and asks over the editor's own client, as plugins do.

local M = {}
local client, agent, root, patch_review

--- Tells the person what the agent does, in one line.
local function tell(text)
  vim.schedule(function() vim.notify('Demo agent: ' .. text) end)
end

local function request(method, params, on_result)
  params.agentId, params.token = agent and agent.agentId, agent and agent.token
  client.request(method, params, function(err, result)
    if err then return tell(method .. ' was refused: ' .. err.message) end
    on_result(result)
  end)
end

local function run(command, token)
  request('escrow/execute', {
    callId = 'run-1', executionToken = token, command = { shell = command }, cwd = vim.uri_from_fname(root),
  }, function() tell('runs `' .. command .. '` in the sandbox') end)
end

local function ask_to_install()
  local command = 'npm install left-pad'
  request('escrow/toolCall', {
    callId = 'install-1', tool = 'shell', runner = 'escrow', wait = 'human',
    subject = { kind = 'shell', command = command, cwd = vim.uri_from_fname(root) },
  }, function(answer)
    if answer.decision == 'allow' then return run(command, answer.executionToken) end
    tell('may not install: ' .. answer.reason)
  end)
end

local function propose()
  local file = assert(io.open(assert(os.getenv('ESCROW_DEMO_PATCH')), 'rb'))
  local text = file:read('*a')
  file:close()
  request('escrow/proposeDiff', {
    callId = 'change-1', title = 'Work behind the proxy',
    change = { form = 'patch', root = vim.uri_from_fname(root), text = text },
  }, function(review) patch_review = review.reviewId end)
end

--- Registers and asks for two things. Called once, when the client is ready.
function M.start(ready_client, directory)
  client, root = ready_client, directory
  request('escrow/agent/register', { name = 'Demo agent' }, function(credential)
    agent = credential
    propose()
    ask_to_install()
  end)
end

--- The agent applies what the person has approved.
function M.on_review_changed(_, review)
  if review.reviewId ~= patch_review then return end
  if review.state == 'rejected' then return tell('drops its change') end
  if review.state ~= 'approved' then return end
  request('escrow/apply', { reviewId = review.reviewId, revision = review.revision }, function(result)
    tell('its change is ' .. result.state .. (result.reason and ': ' .. result.reason or ''))
    vim.schedule(function() vim.cmd('checktime') end)
  end)
end

function M.on_exited(_, ended)
  local refused = vim.tbl_map(function(violation) return violation.detail end, ended.violations)
  local why = #refused > 0 and '; the sandbox refused ' .. table.concat(refused, ', ') or ''
  tell(string.format('its command ended with %s%s', ended.exitCode, why))
end

return M
