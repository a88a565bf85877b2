#include "engine/rules.h"

// A statement is recognised by its verbs in their order inside a string (`SELECT … FROM`, `INSERT INTO`, …), the fault
// by how a value gets into that string: concatenation, interpolation or formatting. Placeholders (`?`, `$1`, `%s` with
// a separate argument) make no finding.

namespace escrow::engine {
namespace {

#define SQL_VERBS \
  R"re((?i:select\b[^"'`]+\bfrom\b|(?-i:SELECT)\s|insert\s+into\b|update\s+\S+\s+set\b|delete\s+from\b|replace\s+into\b|drop\s+(?:table|database)\b|alter\s+table\b|truncate\s+table\b|(?-i:EXEC(?:UTE)?)\s+\w+|create\s+(?:table|user)\b|where\s+[\w.]+\s*(?:=|<|>|!|like\b|in\b|is\b|between\b)|and\s+\w+\s*=|order\s+by\b|from\s+\w+\s+where\b|(?-i:CALL)\s+\w+))re"
#define SQL_STATEMENT \
  R"re((?i:select\b.+\bfrom\b|insert\s+into\b|update\s+\S+\s+set\b|delete\s+from\b|replace\s+into\b|drop\s+(?:table|database)\b|alter\s+table\b|truncate\s+table\b|merge\s+into\b))re"

constexpr LanguageMask kPlus = Language::javascript | Language::java | Language::kotlin | Language::csharp |
                               Language::python | Language::go | Language::ruby | Language::c | Language::swift;
constexpr std::array<std::string_view, 12> kWords{"select", "insert",   "update",       "delete",
                                                  "where",  "order by", "drop",         "alter",
                                                  "and ",   "truncate", "replace into", "merge into"};
constexpr std::array<std::string_view, 12> kStatementWords{"select", "insert",   "update",       "delete",    "drop",
                                                           "alter",  "truncate", "replace into", "merge into"};

constexpr LinePattern kSqlPatterns[] = {
    {"sql-injection", kWords, R"re(["'`]\s*)re" SQL_VERBS R"re([^"`]*["'`]\s*\+\s*(?:[A-Za-z_$@(]))re", Where::text,
     kPlus, kSource, 0, kUserInputRaises},
    {"sql-injection", kWords, R"re(["']\s*)re" SQL_VERBS R"re([^"]*["']\s*\.\s*(?:\$|\w+\())re", Where::text,
     Language::php | Language::perl, kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords, R"re("\s*)re" SQL_STATEMENT R"re([^"]*(?:\{\$|\$[a-z_]))re", Where::text,
     Language::php | Language::perl, kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords, R"re("\s*)re" SQL_STATEMENT R"re([^"]*\$(?:\{|[a-zA-Z_]))re", Where::text,
     bit(Language::kotlin), kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords, R"re(\b[rR]?[fF][rR]?["']{1,3}\s*)re" SQL_STATEMENT R"re(.*\{[^}]+\})re",
     Where::any, bit(Language::python), kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords, R"re((?:^|[^\w])`\s*)re" SQL_STATEMENT R"re([^`]*\$\{)re", Where::any,
     bit(Language::javascript), kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords, R"re(\$@?"\s*)re" SQL_STATEMENT R"re([^"]*\{[^}]+\})re", Where::any,
     bit(Language::csharp), kSource, 0, kUserInputRaises},
    {"sql-injection", kWords, R"re(["']\s*)re" SQL_VERBS R"re(.*%[sdr][^"]*["']{1,3}\s*%\s*[\w(])re", Where::text,
     bit(Language::python), kSource, 0, kUserInputRaises},
    {"sql-injection", kWords, R"re(["']\s*)re" SQL_VERBS R"re(.*\{\w*\}[^"]*["']{1,3}\s*\.\s*format\s*\()re",
     Where::text, bit(Language::python), kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords,
     R"re(\b(?:Sprintf|fmt\.Sprint|String\.format|format!|string\.Format|sprintf|formatted|Fprintf)\s*\(.*["'`]\s*)re" SQL_STATEMENT
     R"re(.*(?:%[svdq]|\{))re",
     Where::any, kAnyLanguage, kSource, 0, kUserInputRaises},
    {"sql-injection", kStatementWords, R"re(["%].{0,4})re" SQL_STATEMENT R"re(.*#\{)re", Where::text,
     Language::ruby | Language::elixir, kSource, 0, kUserInputRaises},
    {"sql-injection",
     {".where", ".having", ".order", ".joins", ".pluck", "find_by_sql", ".from(", ".group("},
     R"re(\.(?:where|having|order|joins|find_by_sql|from|group|exists\?)\s*\(?\s*(?:"[^"]*#\{|["'][^"']*["']\s*\+|params))re",
     Where::code,
     bit(Language::ruby),
     kSource,
     0,
     kUserInputRaises},
    {"sql-injection",
     {"rawunsafe", "executeraw", ".raw(", ".literal(", "whereraw", "orderbyraw", "selectraw", "db::raw", ".extra("},
     R"re(\$(?:query|execute)RawUnsafe\s*\(|\b(?:knex|sequelize|db|prisma|DB|trx)(?:::|\.)(?:raw|literal)\s*\(\s*(?:`[^`]*\$\{|["'][^"']*["']\s*[+.]\s*\$?\w|\w+\s*[+)])|\b(?:where|orderBy|select|having)Raw\s*\(\s*(?:`[^`]*\$\{|"[^"]*\$|["'][^"']*["']\s*[+.]))re",
     Where::code,
     Language::javascript | Language::php | Language::python,
     kSource,
     0,
     kUserInputRaises},
    {"sql-injection",
     {"execute", "query", "prepare", "cursor"},
     R"re(\b(?:execute|query|executeQuery|executeUpdate|prepareStatement|prepare|QueryRow|Query|Exec|raw_query)\s*\(\s*(?:ctx,\s*)?(?:"[^"]*"\s*\+\s*[a-zA-Z_]|[a-z]\w*\s*\+\s*(?:"|[a-z])))re",
     Where::code,
     kPlus,
     kSource,
     0,
     kUserInputRaises},
    {"sql-injection",
     {"execute immediate", "sp_executesql", "exec("},
     R"re((?i)\bexecute\s+immediate\b.*\|\||\bexec\s*\(\s*@|\bsp_executesql\s+@\w+\s*\+|\bexecute\s+(?:format\s*\(|'[^']*'\s*\|\|))re",
     Where::code,
     bit(Language::sql),
     kSource,
     0,
     kUserInputRaises},
};

#undef SQL_VERBS
#undef SQL_STATEMENT

}  // namespace

std::span<const LinePattern> sql_patterns() {
  return kSqlPatterns;
}

}  // namespace escrow::engine
