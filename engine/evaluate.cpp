#include "engine/evaluate.h"

#include <algorithm>
#include <array>

#include "engine/action_signals.h"
#include "engine/decision_table.h"
#include "engine/grant_match.h"
#include "engine/redact.h"
#include "engine/rule_match.h"

namespace escrow::engine {
namespace {

using std::string_view;

/// What an agent may do instead, by what was wrong.
string_view alternative_to(Category category) {
  static constexpr std::array<string_view, kCategoryCount> kText = {
      "Leave the guard's settings, hooks and agent permissions as they are; ask the person to change them.",
      "Save the text to a file in the workspace, show it for review, and run it only after that.",
      "Show the data to the person, who can send it.",
      "Write the command out plainly, without encodings or variables in its name.",
      "Name the exact files or build folders to remove, inside the workspace.",
      "Run the program without changing what it loads; set options in the project's own files.",
      "Work without the secret, or ask the person to provide what is needed.",
      "Do it without other rights, inside the workspace.",
      "Start it for this session only.",
      "Use the tool's plain form, or put the code in a file that can be reviewed.",
      "Propose the change to the manifest, and ask for the install to be allowed.",
      "Ask the person to do it.",
      "Work on a copy inside the workspace.",
      "Use what is already in the workspace, or ask for this host to be allowed.",
      "Run the project's own build or tests in the sandbox.",
      "Propose the change as a diff.",
      "Read files inside the workspace.",
  };
  return kText[static_cast<std::size_t>(category)];
}

class Evaluator {
 public:
  Evaluator(const Action& action, const ActionContext& context, const Policy& policy)
      : action_(action), context_(context), policy_(policy) {
    scene_.ground.workspace_root = context.workspace_root;
    scene_.ground.home = context.home;
    scene_.ground.cwd = relative_cwd();
    scene_.venue = context.venue;
    scene_.git_config_runs_programs = context.git_config_runs_programs;
    autonomy_ = policy.autonomy_capped ? std::min(context.autonomy, policy.autonomy) : context.autonomy;
  }

  Evaluation evaluate() {
    judged_ = judge_action(action_, scene_);
    describe_risk();
    decide_by_table();
    decide_by_rules();
    decide_by_grants();
    decide_by_damage();
    decide_by_mode();
    finish();
    return std::move(out_);
  }

 private:
  std::string relative_cwd() const {
    std::string cwd;
    if (const auto* shell = std::get_if<ShellAction>(&action_))
      cwd = shell->cwd;
    else if (const auto* exec = std::get_if<ExecAction>(&action_))
      cwd = exec->cwd;
    if (cwd.empty()) return {};
    const Target place = locate(Word{.text = cwd, .span = {}}, Ground{context_.workspace_root, context_.home, ""});
    // Where nothing is known of the workspace, the working directory stands for it.
    if (context_.workspace_root.empty()) return {};
    return place.zone == Zone::workspace_root ? std::string() : place.path;
  }

  void trace(std::string text) { out_.trace.push_back(std::move(text)); }

  std::string category_clause() const {
    const bool calm = judged_.risk.level == Level::none;
    return "command." + std::string(id_of(calm ? calm_clause() : judged_.risk.clause));
  }

  Category calm_clause() const { return judged_.risk.clause; }

  void describe_risk() {
    const ScriptJudgement& risk = judged_.risk;
    Risk& out = out_.decision.risk;
    out.level = risk.level;
    out.score = command_score(risk.level);
    out.categories = ids_of(risk.categories == 0 ? bit(Category::read_only) : risk.categories);
    out_.parse = judged_.script.state;
    const auto& commands = judged_.script.commands;
    for (std::size_t i = 0; i < commands.size(); ++i) add_command(commands[i], risk.commands[i]);
    if (risk.deciding != SimpleCommand::npos && risk.deciding < commands.size()) {
      out_.span = commands[risk.deciding].span;
    } else if (const auto* shell = std::get_if<ShellAction>(&action_)) {
      out_.span = {0, shell->command.size()};
    }
    if (commands.empty() && risk.level > Level::low) add_signal(risk.level, risk.clause, risk.message);
    if (risk.level > Level::none) out.explain.push_back({category_clause(), out.score});
    trace("risk: " + std::string(name_of(risk.level)) + " (" + category_clause() + ")" +
          (risk.message.empty() ? "" : ": " + one_line(redact(risk.message))));
  }

  void add_command(const SimpleCommand& command, const CommandJudgement& one) {
    JudgedCommand judged;
    for (const Assignment& assignment : command.assignments) {
      if (command.argv.empty()) judged.argv.push_back(assignment.name + "=" + assignment.value.text);
    }
    for (const Word& word : command.argv) judged.argv.push_back(word.text);
    judged.level = one.level;
    judged.categories = ids_of(one.categories);
    judged.span = command.span;
    out_.commands.push_back(std::move(judged));
    if (one.level >= Level::medium) add_signal(one.level, one.clause, one.message);
  }

  void add_signal(Level level, Category clause, const std::string& message) {
    Signal signal;
    signal.rule = "command." + std::string(id_of(clause));
    signal.severity = level;
    signal.weight = command_score(level);
    signal.message = one_line(redact(message));
    out_.decision.risk.signals.push_back(std::move(signal));
  }

  void set(Verdict verdict, std::string clause, std::string why) {
    out_.decision.verdict = verdict;
    out_.decision.clause = std::move(clause);
    why_ = std::move(why);
  }

  void decide_by_table() {
    const Verdict verdict = decide(judged_.risk.level, judged_.risk.categories, context_.venue, autonomy_);
    set(verdict, category_clause(), one_line(redact(judged_.risk.message)));
    trace("table: " + std::string(name_of(context_.venue)) + ", autonomy " + std::string(name_of(autonomy_)) + " → " +
          std::string(name_of(verdict)));
  }

  /// The strictest matching rule wins; an allow loosens up to high.
  void decide_by_rules() {
    const PolicyRule* winner = nullptr;
    for (const PolicyRule& rule : policy_.rules) {
      if (rule.effect == RuleEffect::allow && rule.origin.layer == LayerKind::workspace) continue;
      const bool matched = rule_matches(rule, action_, judged_, scene_.ground);
      trace("rule " + rule.id + " (" + std::string(name_of(rule.effect)) + ", " +
            std::string(name_of(rule.origin.layer)) + "): " + (matched ? "matches" : "does not match"));
      if (matched && (winner == nullptr || rule.effect > winner->effect)) winner = &rule;
    }
    if (winner == nullptr) return decide_by_network_list();
    rule_ = winner;
    switch (winner->effect) {
      case RuleEffect::deny:
        return set(Verdict::deny, winner->id, "the policy rule " + winner->id + " forbids it");
      case RuleEffect::prompt:
        if (out_.decision.verdict != Verdict::deny)
          set(Verdict::prompt, winner->id, "the policy rule " + winner->id + " asks a person first");
        return;
      case RuleEffect::allow:
        if (judged_.risk.level == Level::critical)
          return trace("rule " + winner->id + ": a critical action is never loosened");
        return set(Verdict::allow, winner->id, "the policy rule " + winner->id + " allows it");
    }
  }

  void decide_by_network_list() {
    const auto* network = std::get_if<NetworkAction>(&action_);
    if (network == nullptr || judged_.risk.level >= Level::high) return;
    for (const std::string& host : policy_.network_allow) {
      if (!host_matches(host, network->host, network->port)) continue;
      set(Verdict::allow, "network.allow", "the policy allows the host " + host);
      return trace("network.allow " + host + ": matches");
    }
  }

  GrantContext grant_context() const {
    GrantContext context = context_.grant_context;
    context.autonomy = std::max(autonomy_, Autonomy::low);
    return context;
  }

  std::vector<const Grant*> candidates() const {
    if (context_.grant_index != nullptr) return context_.grant_index->about(action_, judged_);
    std::vector<const Grant*> all;
    for (const Grant& grant : context_.grants) all.push_back(&grant);
    return all;
  }

  /// A damaged store is read as the strictest that it could have been.
  void decide_by_damage() {
    const Decision& decision = out_.decision;
    const bool by_person = !decision.grant_id.empty();
    if (!context_.grants_uncertain || by_person) return;
    if (decision.verdict != Verdict::allow) return;
    trace("grants: the store is damaged, so a remembered deny may be missing: asks");
    set(Verdict::prompt, "grants.damaged", "the store of remembered decisions is damaged, and a deny may be missing");
  }

  void decide_by_grants() {
    const GrantContext context = grant_context();
    std::vector<bool> covered(judged_.script.commands.size(), false);
    for (std::size_t i = 0; i < covered.size(); ++i) covered[i] = judged_.risk.commands[i].level == Level::none;
    const Grant* allowing = nullptr;
    const Grant* once = nullptr;
    for (const Grant* candidate : candidates()) {
      const Grant& grant = *candidate;
      const bool in_force = is_in_force(grant, context);
      if (grant.effect == GrantEffect::deny) {
        const bool matched = in_force && covers_judged(grant, action_, judged_, scene_);
        trace("grant " + grant.id + " (deny): " +
              (matched    ? "matches"
               : in_force ? "does not match"
                          : "not in force here"));
        if (matched) return deny_by(grant);
        continue;
      }
      if (!in_force || !validate_grant(grant)) {
        trace("grant " + grant.id + " (allow): not in force here");
        continue;
      }
      if (grant.scope == Scope::once) {
        once = covers_judged(grant, action_, judged_, scene_) ? &grant : once;
        continue;
      }
      const bool helped = add_coverage(grant, covered);
      trace("grant " + grant.id + " (allow): " + (helped ? "covers a part" : "does not match"));
      if (helped) allowing = &grant;
    }
    if (once != nullptr) return allow_by(*once);
    const bool whole =
        judged_.script.state == ParseState::ok && std::all_of(covered.begin(), covered.end(), [](bool b) { return b; });
    if (allowing != nullptr && whole) allow_by(*allowing);
  }

  /// True if the grant covers something that nothing covered before. For an action that is not a command: all of it.
  bool add_coverage(const Grant& grant, std::vector<bool>& covered) {
    if (judged_.script.commands.empty()) return covers_judged(grant, action_, judged_, scene_);
    if (grant.tool != "shell" && grant.tool != "exec") return false;
    const std::vector<bool> own = covered_commands(grant, judged_, scene_);
    bool helped = false;
    for (std::size_t i = 0; i < covered.size(); ++i) {
      if (own[i] && !covered[i]) helped = true;
      covered[i] = covered[i] || own[i];
    }
    return helped;
  }

  void deny_by(const Grant& grant) {
    out_.decision.grant_id = grant.id;
    set(Verdict::deny, "grant." + grant.id, "a remembered decision denies it");
  }

  void allow_by(const Grant& grant) {
    if (out_.decision.verdict == Verdict::allow) return;
    if (judged_.risk.level == Level::critical)
      return trace("grant " + grant.id + ": a critical action is never loosened");
    if (out_.decision.verdict == Verdict::deny) return trace("grant " + grant.id + ": a deny rule stands above it");
    // A configured question is asked each time: only an answer to this very call settles it.
    if (rule_ != nullptr && rule_->effect == RuleEffect::prompt && grant.scope != Scope::once)
      return trace("grant " + grant.id + ": a rule asks each time");
    out_.decision.grant_id = grant.id;
    set(Verdict::allow, "grant." + grant.id, "a remembered decision allows it");
  }

  void decide_by_mode() {
    if (policy_.mode == Mode::enforce) return;
    trace("mode: " + std::string(name_of(policy_.mode)));
    if (policy_.mode == Mode::disabled && out_.decision.verdict != Verdict::allow)
      set(Verdict::allow, "mode.disabled", "Escrow is switched off; the risk is only recorded");
  }

  void finish() {
    Decision& decision = out_.decision;
    const std::string what = why_.empty() ? std::string("reads only") : why_;
    switch (decision.verdict) {
      case Verdict::allow:
        decision.reason = "Allowed: " + what + ".";
        break;
      case Verdict::prompt:
        decision.reason = "A person decides: " + what + ".";
        decision.for_agent = decision.reason + " " + std::string(alternative_to(judged_.risk.clause));
        add_remedies();
        break;
      case Verdict::deny:
        decision.reason = "Denied: " + what + ".";
        decision.for_agent = decision.reason + " " + std::string(alternative_to(judged_.risk.clause));
        break;
    }
    trace("decided by " + decision.clause + ": " + std::string(name_of(decision.verdict)));
  }

  Grant remedy_grant(Scope scope, const std::string& match) const {
    Grant grant;
    grant.effect = GrantEffect::allow;
    grant.tool = grant_tool(action_);
    grant.match = match;
    grant.scope = scope;
    grant.max_autonomy = std::max(autonomy_, Autonomy::low);
    grant.created_ms = context_.grant_context.now_ms;
    if (scope == Scope::once) {
      grant.call_id = context_.grant_context.call_id;
      grant.subject_hash = context_.grant_context.subject_hash;
    }
    if (scope == Scope::session) grant.session = context_.grant_context.session;
    if (scope == Scope::workspace) grant.workspace = context_.grant_context.workspace;
    return grant;
  }

  void add_remedy(std::string title, Grant grant) {
    if (!validate_grant(grant)) return;
    out_.decision.remedies.push_back({std::move(title), std::move(grant)});
  }

  /// Ready grants in the order they are offered. A rule that asks each time offers only this once.
  void add_remedies() {
    add_remedy("Allow once", remedy_grant(Scope::once, ""));
    if (rule_ != nullptr && rule_->effect == RuleEffect::prompt) return;
    const std::vector<std::string> matches = suggest_for(action_, judged_, scene_);
    if (matches.size() != 1) return;  // a line of several commands takes several: Broker::answer_call gives them
    const std::string shown = one_line(matches.front(), 80);
    add_remedy("Allow `" + shown + "` for this session", remedy_grant(Scope::session, matches.front()));
    add_remedy("Always allow `" + shown + "` here", remedy_grant(Scope::workspace, matches.front()));
  }

  const Action& action_;
  const ActionContext& context_;
  const Policy& policy_;
  CommandScene scene_;
  Autonomy autonomy_ = Autonomy::medium;
  ActionJudgement judged_;
  const PolicyRule* rule_ = nullptr;
  std::string why_;
  Evaluation out_;
};

}  // namespace

Evaluation evaluate(const Action& action, const ActionContext& context, const Policy& policy) {
  return Evaluator(action, context, policy).evaluate();
}

}  // namespace escrow::engine
