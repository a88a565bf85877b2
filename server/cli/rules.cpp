#include <CLI/CLI.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>

#include "engine/diff_rule_table.h"
#include "engine/explain.h"
#include "engine/rule_page.h"
#include "engine/text.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/output.h"
#include "server/json_out.h"

// escrow rules [ID]: what is looked for, and the page of one rule or category. docs/rules is written from it.

namespace escrow::server::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kIndex = "index";
constexpr std::string_view kClausePrefix = "command.";

struct RulesOptions {
  OutputOptions output;
  std::string id;
};

json::object json_rule(std::string_view id) {
  const auto& text = *engine::find_rule_text(id);
  const auto* rule = engine::find_diff_rule(id);
  const bool unread = id == engine::kUnreadRule;
  json::object out{{"id", id}, {"about", rule != nullptr || unread ? "changes" : "commands"}};
  out["title"] = text.title;
  out["why"] = text.why;
  if (unread) out["severity"] = engine::name_of(engine::Level::high);
  if (rule == nullptr) return out;
  out["severity"] = engine::name_of(rule->severity);
  out["weight"] = rule->weight;
  out["context"] = rule->is_context;
  out["cwe"] = json_texts(engine::split_words(rule->cwe));
  return out;
}

void list_json() {
  json::array rules;
  for (const auto id : engine::rule_page_ids()) rules.emplace_back(json_rule(id));
  put_json({{"rules", std::move(rules)}});
}

void list_text(const Style& style) {
  put(style.bold("In changes") + "\n");
  for (const auto& rule : engine::diff_rules()) {
    put("  " + padded(rule.id, 24) + style.paint(tone_of(rule.severity), padded(engine::name_of(rule.severity), 9)) +
        padded(std::to_string(rule.weight), 4) + std::string(engine::find_rule_text(rule.id)->title) + "\n");
  }
  put("  " + padded(engine::kUnreadRule, 24) +
      style.paint(tone_of(engine::Level::high), padded(engine::name_of(engine::Level::high), 9)) + padded("", 4) +
      std::string(engine::unread_text().title) + "\n");
  put("\n" + style.bold("In commands") + "\n");
  for (const auto& text : engine::command_category_texts()) {
    put("  " + padded(text.id, 24) + std::string(text.title) + "\n");
  }
  put("\n" + style.dim("escrow rules ID shows one, with examples and how to accept it.") + "\n");
}

/// As findings and verdicts name it: `secret-literal`, `network` or `command.network`.
std::string id_of(const std::string& name) {
  return name.starts_with(kClausePrefix) ? name.substr(kClausePrefix.size()) : name;
}

int show_page(const RulesOptions& options) {
  if (options.id == kIndex) {
    put(engine::rule_index());
    return kOk;
  }
  const auto id = id_of(options.id);
  const auto page = engine::rule_page(id);
  if (page.empty()) return refuse_usage("rules: there is no rule or category '" + options.id + "' (see escrow rules)");
  if (!options.output.as_json()) {
    put(page);
    return kOk;
  }
  auto out = json_rule(id);
  out["page"] = page;
  put_json(out);
  return kOk;
}

int run_rules(const RulesOptions& options) {
  if (!options.id.empty()) return show_page(options);
  if (options.output.as_json()) {
    list_json();
  } else {
    list_text(options.output.style());
  }
  return kOk;
}

}  // namespace

void add_rules(CommandTree& tree) {
  auto options = std::make_shared<RulesOptions>();
  auto* app = tree.root.add_subcommand("rules", "What is looked for in changes and commands, and what each means");
  add_text(*app, "id", options->id, "ID", "a rule or category: its page, in Markdown (`index`: of all of them)");
  add_output_options(*app, options->output);
  tree.commands.push_back({"rules", app, [options] { return run_rules(*options); }});
}

}  // namespace escrow::server::cli
