#include <array>
#include <optional>
#include <string>

#include "engine/rules.h"
#include "engine/text.h"
#include "engine/unicode_scan.h"

namespace escrow::engine {
namespace {

constexpr FileRoles kEverything = ~FileRoles{0} & ~FileRoles{kLockfile};

// What a text must hold to be addressed to a machine reader: an order to drop its instructions, to hide something from
// its person, to take another role, to send secrets, or to wave a change through.
constexpr LinePattern
    kTextPatterns[] =
        {
            {"prompt-injection",
             {"ignore", "disregard", "forget", "override", "bypass"},
             R"re((?i)\b(?:ignore|disregard|forget|override|bypass)\b(?:\s+\w+){0,4}?\s+(?:previous|prior|above|earlier|preceding|existing|system|original|safety|all|your|any)\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|rules?|directives?|guidelines?|messages?|context|restrictions?|polic(?:y|ies)|safeguards?|guardrails?)\b)re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"do not", "don't", "never", "without", "must not", "avoid"},
             R"re((?i)(?:\b(?:do\s+not|don'?t|never|must\s+not|avoid|without)\s+(?:ever\s+)?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|reveal(?:ing)?|report(?:ing)?|show(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|ask(?:ing)?|discuss(?:ing)?|say(?:ing)?)\b[^.]*\b(?:the\s+)?(?:user|human|developer|reviewer|operator|maintainer|owner|person)s?\b))re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"system:", "assistant:", "im_start", "[inst]", "<<sys>>", "<|system|>", "</system>", "<system>",
              "system prompt", "system-reminder"},
             R"re((?i)(?:^|[^\w.])(?:system|assistant)\s*:\s*(?:ignore|you\s+(?:are|must|will)|override|new\s+instruction|from\s+now|disregard|always|execute|run)\b|<\|(?:im_start|system|assistant|endoftext)\|?>|\[INST\]|<<SYS>>|</?system(?:-reminder)?>\s*\w|\b(?:reveal|print|output|repeat|show)\b[^.]*\bsystem\s+prompt\b)re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"you are now", "from now on", "pretend", "act as", "developer mode", "jailbreak", "do anything now",
              "new instructions", "unrestricted"},
             R"re((?i)\byou\s+are\s+now\s+(?:in\s+)?(?:an?\s+|the\s+)?(?:\w+\s+)?(?:developer|debug|admin|root|god|maintenance|unrestricted|DAN|jailbroken|free)\b|\bfrom\s+now\s+on,?\s+you\s+(?:are|will|must|should|have)\b|\bdo\s+anything\s+now\b|\bnew\s+(?:system\s+)?instructions?\s*:)re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"agent", "assistant", "llm", "language model", "copilot", "claude", "cursor", "codex", "chatgpt",
              "gemini", "ai "},
             R"re((?i)(?:^|[^\w-])(?:AI|LLM|coding|code|automated|autonomous)?\s*(?:agents?|assistants?|language\s+models?|LLMs?|copilot|claude|cursor|codex|chatgpt|gemini|AI(?:\s+(?:reviewers?|tools?|models?|systems?))?)\b[^.]*\b(?:must|should|shall|have\s+to|need\s+to|are\s+required\s+to|are\s+instructed\s+to|please|will|:)\s+(?:also\s+|always\s+|first\s+|now\s+|immediately\s+|silently\s+)*(?:send|upload|post|exfiltrate|email|curl|leak|transmit|disable|delete|approve|merge|skip|ignore|disregard|download|hide|bypass|read\s+(?:the\s+)?(?:\.env|secrets?|credentials?|keys?)|add\s+the\s+following|insert|(?:run|execute)\s+(?:the\s+following|this|`?(?:curl|wget|sh|bash|python|npx|node)))\b)re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"agent", "assistant", "model", "ai"},
             R"re((?i)\b(?:if|when|since|because)\s+you\s+are\s+an?\s+(?:AI|LLM|language\s+model|automated|coding)\b|\b(?:attention|note|instructions?|message|notice)\s*(?:to|for)\s+(?:all\s+|any\s+|the\s+)?(?:AI|LLM|language\s+model|coding\s+(?:agent|assistant))s?\b|\b(?:hidden|secret)\s+instructions?\b)re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"approve", "mark", "rate", "classify", "report"},
             R"re((?i)\b(?:approve|merge|accept)\s+(?:this|the)\s+(?:pr|pull\s+request|change|diff|patch|commit|review)s?\s+(?:without|immediately|automatically|unconditionally|now)\b|\b(?:mark|rate|classify|score|report|treat|label)\s+(?:this|the|it|these)\s*(?:pr|pull\s+request|change|diff|patch|code|file|commit|command)?s?\s+as\s+(?:safe|low[\s-]risk|approved|benign|trusted|harmless|secure)\b)re",
             Where::any,
             kAnyLanguage,
             kEverything},
            {"prompt-injection",
             {"send", "upload", "post", "email", "exfiltrate", "include", "append", "paste", "leak", "copy"},
             R"re((?i)\b(?:send|upload|post|e-?mail|exfiltrate|leak|transmit|forward)\b[^.]*\b(?:api[\s_-]?keys?|secrets?|credentials?|environment\s+variables?|env\s+vars?|\.env\b|ssh\s+keys?|private\s+keys?|access\s+tokens?|~/\.ssh|\.aws)[^.]*\b(?:to|at)\s+(?:https?://|\S+\.\w{2,}))re",
             Where::any,
             kAnyLanguage,
             kEverything & ~FileRoles{kSource}},
            {"prompt-injection", {"run", "execute", "curl", "fetch"}, R"re((?i)\b(?:before|after|at\s+the\s+(?:start|end)\s+of|on)\s+(?:any|every|each|all|your)\s+(?:task|session|request|edit|change|response|conversation|command)s?\b[^.]*\b(?:run|execute|curl|fetch|source|download)\s+(?:`[^`]*(?:https?://|curl|wget|\bsh\b|bash)|https?://|curl|wget))re", Where::any, kAnyLanguage, kAgent | kDocs},
};

}  // namespace

std::span<const LinePattern> instruction_patterns() {
  return kTextPatterns;
}

void find_hidden_unicode(const FileView& file, Findings& findings) {
  const HiddenText scope = file.facts.has(kDocs) ? HiddenText::in_prose : HiddenText::in_code;
  for (const HunkView& hunk : file.hunks) {
    for (std::size_t i = 0; i < hunk.lines().size(); ++i) {
      const DiffLine& line = hunk.lines()[i];
      if (line.kind != LineKind::added || is_ascii(line.text)) continue;
      // A byte order mark opens a file, and means nothing else there.
      std::string_view text = line.text;
      if (line.new_line == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
      std::optional<std::string> trouble = find_hidden_characters(text, scope);
      if (!trouble && scope == HiddenText::in_code) trouble = find_lookalike_word(hunk.text_of(i));
      if (trouble) findings.add(file, {.rule = "hidden-unicode", .line = line.new_line, .message = *trouble});
    }
  }
}

}  // namespace escrow::engine
