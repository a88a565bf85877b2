#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/engine/diff_case.h"

namespace escrow::engine {
namespace {

using testing::findings_of;
using testing::make_diff;

struct Case {
  std::string path, body, section;
  std::vector<std::string> expected;
};

void check(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    INFO(test.path << "\n" << test.body);
    CHECK(findings_of(make_diff(test.path, test.body, test.section)) == test.expected);
  }
}

TEST_CASE("an access check that is deleted, inverted or made constant") {
  check({
      {"api/views.py",
       " @app.delete('/u')\n-@require_role(\"admin\")\n def delete_user(uid):\n",
       "",
       {"auth-check-removed:11"}},
      {"src/routes.ts",
       " const router = Router();\n-router.use(authenticate);\n router.get('/x', list);\n",
       "",
       {"auth-check-removed:11"}},
      {"src/routes.ts",
       "-router.get('/x', requireAuth, list);\n+router.get('/x', list);\n",
       "",
       {"auth-check-removed:10"}},
      {"src/doc.rs",
       " pub fn can_edit(u: &User) -> bool {\n-    u.id == d.owner_id\n+    true\n }\n",
       "",
       {"auth-check-removed:11"}},
      {"deps.py",
       " @router.delete('/{id}')\n-async def drop(id: int, user=Depends(get_current_admin)):\n+async def drop(id: "
       "int):\n",
       "",
       {"auth-check-removed:11"}},
      {"r.js",
       " async (_, { id }, { user }) => {\n-  if (post.authorId !== user.id) throw new ForbiddenError('no');\n   "
       "drop(id);\n",
       "",
       {"auth-check-removed:11"}},
      {"files.rego", " package f\n-default allow = false\n+default allow = true\n", "", {"auth-check-removed:11"}},
      {"share/acl.go",
       " func allow(u User) error {\n-\tif !member(u) {\n+\tif member(u) {\n \t\treturn ErrForbidden\n",
       "",
       {"auth-check-removed:11"}},
      {"src/token.ts", "-  return jwt.verify(raw, key);\n+  return jwt.decode(raw);\n", "", {"auth-check-removed:10"}},
      {"app/x_controller.rb", " class X\n+  skip_before_action :authenticate_user!\n", "", {"auth-check-removed:11"}},
  });
}

TEST_CASE("a fixed value that gets past the check") {
  const auto found = findings_of(
      make_diff("auth/login.py",
                " def login(user, password):\n+    if password == \"letmein-please\":\n+        return True\n", ""));
  CHECK(found == std::vector<std::string>{"auth-check-removed:11"});
}

TEST_CASE("a check on data that is deleted or loosened") {
  check({
      {"src/frame.c",
       "     uint32_t len = get(c);\n-    if (len > MAX_FRAME)\n-        return -EPROTO;\n     f->len = len;\n",
       "",
       {"validation-removed:11"}},
      {"src/buf.c",
       "-        if (b->len >= b->cap)\n+        if (b->len > b->cap)\n             return -1;\n",
       "",
       {"validation-removed:10"}},
      {"a/payments_controller.rb",
       " class P\n+  skip_before_action :verify_authenticity_token\n",
       "",
       {"validation-removed:11"}},
      {"src/session.ts", "-    httpOnly: true,\n+    httpOnly: false,\n", "", {"validation-removed:10"}},
      {"server/app.js",
       "-app.use(cors({ origin: ALLOWED }));\n+app.use(cors({ origin: true }));\n",
       "",
       {"validation-removed:10"}},
      {"web/view.py", "-    return escape(name)\n+    return name\n", "", {"validation-removed:10"}},
  });
}

TEST_CASE("a bound or a pattern that holds a little less") {
  check({
      {"a.c",
       " int put(b, i)\n-    if (i >= b->len)\n+    if (i > b->len)\n         return -1;\n",
       "",
       {"validation-removed:11"}},
      {"a.go",
       " func parse(b []byte) error {\n-\tif len(b) < headerSize {\n+\tif len(b) < headerSize-1 {\n \t\treturn "
       "errShort\n",
       "",
       {"validation-removed:11"}},
      {"a.py",
       " def take(n):\n-    if n > limit:\n+    if n > limit + 1:\n         raise ValueError\n",
       "",
       {"validation-removed:11"}},
      {"cors.ts",
       " export const allowedOrigins = [\n-  /^https:\\/\\/app\\.example\\.com$/,\n+  /app\\.example\\.com/,\n ];\n",
       "",
       {"validation-removed:11"}},
      {"a.c",
       " int in_range(struct buf *b, size_t i) {\n-    return i < b->len;\n+    return i <= b->len;\n }\n",
       "",
       {"validation-removed:11"}},
      {"hosts.py",
       " ALLOWED_REDIRECTS = [\n-    r\"^https://example\\.org/\",\n+    r\"https://example\\.org/\",\n ]\n",
       "",
       {"validation-removed:11"}},
  });
  check({
      {"a.c", " int put(b, i)\n-    if (i > b->len)\n+    if (i >= b->len)\n         return -1;\n", "", {}},
      {"a.go",
       " func parse(b []byte) error {\n-\tif len(b) < size {\n+\tif len(b) < size+1 {\n \t\treturn errShort\n",
       "",
       {}},
      {"a.go", " func rows(n int) {\n-\tif n > width {\n+\tif n > width+1 {\n \t\tdraw(n)\n", "", {}},
      {"cors.ts", " export const allowedOrigins = [\n-  /app\\.example/,\n+  /^app\\.example$/,\n ];\n", "", {}},
      {"a.c",
       " int in_range(struct buf *b, size_t i) {\n-    return i <= b->len;\n+    return i < b->len;\n }\n",
       "",
       {}},
      {"deps.py",
       "-async def drop(id: int, user=Depends(get_current_admin)):\n+async def drop(id: int, "
       "admin=Depends(get_admin)):\n",
       "",
       {}},
      {"files.rego", " package f\n-default allow = true\n+default allow = false\n", "", {}},
      {"a.c", " int is_small(int score) {\n-    return score < 3;\n+    return score <= 3;\n }\n", "", {}},
      {"words.py", " WORDS = [\n-    \"^caret\",\n+    \"caret\",\n ]\n", "", {}},
  });
}

TEST_CASE("a redirect that may lead anywhere") {
  check(
      {{"r.rb",
        " def back(url)\n-  return root_path unless URI(url).host == request.host\n   redirect_to url\n",
        "",
        {"validation-removed:11"}},
       {"r.ts",
        " function go(to: string) {\n-  if (new URL(to).origin !== location.origin) return;\n   location.href = to;\n",
        "",
        {"validation-removed:11"}}});
}

TEST_CASE("a lost guard is named as it was written") {
  const PatchEvaluation result =
      testing::judge(make_diff("a.py", " def show(name):\n-    name = escapeHTML(name)\n     return page(name)\n"));
  REQUIRE(!result.risk.signals.empty());
  CHECK(result.risk.signals.front().message.find("`escapeHTML`") != std::string::npos);
}

TEST_CASE("a check that moved, was rewritten or went with its function is no loss") {
  check({
      {"a.kt",
       " fun load(id: Long): Item {\n-    val item = repo.find(id)\n-    if (item == null) throw NotFound()\n-    "
       "return "
       "item\n+    return repo.findById(id).orElseThrow { NotFound() }\n }\n",
       "",
       {}},
      {"a.kt",
       " fun load(id: Long): Item {\n-    val item = repo.find(id)\n-    if (item == null) throw NotFound()\n-    "
       "return "
       "item\n+    return repo.find(id) ?: throw NotFound()\n }\n",
       "",
       {}},
      {"a.rb",
       " def load(id)\n-  item = Item.find_by(id: id)\n-  raise NotFound if item.nil?\n-  item\n+  Item.find_by(id: "
       "id) || "
       "raise(NotFound)\n end\n",
       "",
       {}},
      {"src/job.c",
       "-    prepare(j);\n-    if (j->state != READY)\n-        return -EINVAL;\n+    if (j->state != READY)\n+        "
       "return -EINVAL;\n+    prepare(j);\n",
       "",
       {}},
      {"lib/auth/guard.rb",
       "-  def allowed?(user, action) user && user.roles.any? { |r| r.can?(action) } end\n+  def allowed?(user, "
       "action)\n+    user && user.roles.any? { |r| r.can?(action) }\n+  end\n",
       "",
       {}},
      {"api/views.py",
       " x = 1\n-@login_required\n-def old_view(request):\n-    return render(request)\n y = 2\n",
       "",
       {}},
      {"api/views.py", "-@login_required\n+@permission_required('x')\n def view(request):\n", "", {}},
      {"src/ring.c",
       "-    if (len > r->cap - r->used)\n+    size_t room = r->cap - r->used;\n+\n+    if (len > room)\n         "
       "return -ENOSPC;\n",
       "",
       {}},
      {"a.go",
       "-\tif e, ok := c.items[key]; ok {\n-\t\treturn e, true\n+\te, ok := c.items[key]\n+\tif !ok {\n+\t\treturn "
       "Value{}, false\n \t}\n-\treturn Value{}, false\n+\treturn e, true\n",
       "",
       {}},
      {"src/buf.c", "-        if (b->len > b->cap)\n+        if (b->len >= b->cap)\n             return -1;\n", "", {}},
  });
}

TEST_CASE("removing a risk is none") {
  check({
      {"app/x.js", "-const v = eval(text);\n+const v = parse(text);\n", "", {}},
      {"a.go",
       "-\tTLSClientConfig: &tls.Config{InsecureSkipVerify: true},\n+\tTLSClientConfig: &tls.Config{MinVersion: "
       "tls.VersionTLS12},\n",
       "",
       {}},
  });
}

TEST_CASE("a test that checks less") {
  const std::string code = make_diff("pkg/a.go", "-\tx := 1\n+\tx := 2\n");
  CHECK(findings_of(make_diff("pkg/a_test.go", " func TestA(t *testing.T) {\n+\tt.Skip(\"flaky\")\n")) ==
        std::vector<std::string>{"test-weakened:11"});
  CHECK(findings_of(code + make_diff("pkg/a_test.go", "-\t\tt.Fatal(\"no\")\n+\t\tdo()\n")) ==
        std::vector<std::string>{"test-weakened:10"});
  CHECK(findings_of(make_diff("pkg/a_test.go", "-\t\tt.Fatal(\"no\")\n+\t\tdo()\n")).empty());
  CHECK(findings_of(code + make_diff("pkg/a_test.go", "-\t\tt.Fatal(\"no\")\n+\t\tt.Fatal(\"nope\")\n")).empty());
}

TEST_CASE("owners and linters that no longer have a say") {
  check({
      {".github/CODEOWNERS", " *  @acme/core\n-/auth/  @acme/security\n", "", {"ci-check-disabled:10"}},
      {"tools/run.go", "+\tdo() //nolint:gosec\n", "", {"ci-check-disabled:10"}},
      {"a.py", "+x = f()  # nosec\n", "", {"ci-check-disabled:10"}},
  });
}

}  // namespace
}  // namespace escrow::engine
