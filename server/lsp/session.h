#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/probe.h"
#include "server/broker.h"
#include "server/documents.h"
#include "server/lsp/client_facts.h"
#include "server/lsp/connection.h"
#include "server/lsp/lsp_editor.h"
#include "server/store/places.h"

namespace boost::asio {
class io_context;
}

/// What the parts of the language server share: the connection, the documents, and (once initialized) the product.
namespace escrow::server::lsp {

/// Loop thread only. The product members exist from `initialize` on; no handler runs before.
struct Session {
  boost::asio::io_context& loop;
  Connection* connection = nullptr;
  Documents documents = {};
  ClientFacts client = {};
  Places places = {};
  std::string libexec_dir = {};
  std::string rules_dir = {};  ///< of the rule pages; empty if they are not installed
  std::string version = {};
  const sandbox::Probe* probe = nullptr;
  std::unique_ptr<UserTree> tree = nullptr;
  std::unique_ptr<sandbox::Executor> executor = nullptr;
  std::unique_ptr<LspEditor> editor = nullptr;
  std::unique_ptr<Broker> broker = nullptr;

  /// The text of a file as the person sees it: the open document, else the disk, else empty.
  std::string text_of(const std::string& path) const;
  /// Root and root-relative path of an absolute path; empty root if it lies in no folder of the workspace.
  std::pair<std::string, std::string> place_of(const std::string& path) const;
  /// Reads the policy files again. A broken one changes nothing: the last good policy stays in force.
  Result<void> reload_policy();
  bool wants(const std::string& group) const { return client.notifications.contains(group); }
};

}  // namespace escrow::server::lsp
