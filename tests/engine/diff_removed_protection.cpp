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

TEST_CASE("a check that moved, was rewritten or went with its function is no loss") {
  check({
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
