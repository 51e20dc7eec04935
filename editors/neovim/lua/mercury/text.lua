--- Which part of an item is new at a cursor, and where a word or a line of it ends. Text only: knows no buffer and no server.

local M = {}

--- What an item adds at the cursor of a line: `before` and `after` are the line's halves now, whatever was typed since it was asked for.
--- The server's items replace the whole line: `insertText` is what stands before the cursor, the new text, and what stands after it.
---@param insert_text string
---@param before string
---@param after string
---@return string? new nil where the item does not go on from here
---@return boolean whole whether what stands after the cursor stays behind the new text as it is
function M.new_part(insert_text, before, after)
  if insert_text:sub(1, #before) ~= before then
    return nil, false
  end
  local rest = insert_text:sub(#before + 1)
  if after ~= '' and rest:sub(-#after) == after then
    rest = rest:sub(1, -#after - 1)
    return rest ~= '' and rest or nil, true
  end
  return rest ~= '' and rest or nil, after == ''
end

--- The first word of a text, with the blanks and line breaks before it.
---@param text string
---@return string
function M.word(text)
  local word = vim.fn.matchstr(text, [=[^\_s*\%(\k\+\|[^[:keyword:][:space:]]\+\)]=])
  return word ~= '' and word or text
end

--- The first line of a text; where it begins with a line break, the one after it.
---@param text string
---@return string
function M.line(text) return text:match('^\n*[^\n]*') end

--- How two texts differ: lengths in bytes of what they share at both ends, never within a character.
---@param old string
---@param new string
---@return integer head
---@return integer tail
function M.shared(old, new)
  local head, most = 0, math.min(#old, #new)
  while head < most and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while head > 0 and ((old:byte(head + 1) or 0) >= 0x80 and (old:byte(head + 1) or 0) < 0xC0) do
    head = head - 1
  end
  local tail = 0
  while tail < most - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  while tail > 0 and old:byte(#old - tail + 1) >= 0x80 and old:byte(#old - tail + 1) < 0xC0 do
    tail = tail - 1
  end
  return head, tail
end

return M
