#include "server/cli/person_session.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "sandbox/executor.h"
#include "server/execution_limits.h"
#include "server/install_paths.h"
#include "server/store/private_directory.h"
#include "server/workspace/local_tree.h"
#include "server/workspace/repository.h"

namespace escrow::server::cli {

/// In the order of construction: the broker goes first and its collaborators outlive it.
struct PersonSession::Parts {
  Workplace place;
  boost::asio::io_context loop;
  std::unique_ptr<sandbox::Executor> executor;
  LocalTree tree;
  NoEditor editor;
  std::unique_ptr<Broker> broker;

  explicit Parts(Workplace where) : place(std::move(where)), tree(place.places.state_dir) {}
};

namespace {

void set_autonomy(engine::Policy& policy, std::optional<engine::Autonomy> wanted) {
  if (!wanted) return;
  policy.autonomy = policy.autonomy_capped ? std::min(*wanted, policy.autonomy) : *wanted;
}

Broker::Options broker_options(const Workplace& place) {
  Broker::Options options;
  options.state_dir = place.places.state_dir;
  options.grants_file = place.places.grants_file;
  options.roots = {place.root};
  options.home = place.home;
  options.policy = place.policy;
  options.limits = execution_limits(place.policy);
  return options;
}

}  // namespace

PersonSession::PersonSession(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
PersonSession::~PersonSession() = default;

const Workplace& PersonSession::place() const {
  return parts_->place;
}
Broker& PersonSession::broker() {
  return *parts_->broker;
}
boost::asio::io_context& PersonSession::loop() {
  return parts_->loop;
}

Result<std::unique_ptr<PersonSession>> PersonSession::open(Options options) {
  auto place = find_workplace(options.workspace);
  if (!place) return place.error();
  if (auto made = make_private_directory(place->places.state_dir); !made) return made.error();
  const auto install = find_install_paths();
  if (!install) return install.error();
  set_autonomy(place->policy, options.autonomy);
  auto parts = std::make_unique<Parts>(std::move(*place));
  parts->executor = sandbox::make_bwrap_executor(
      parts->loop,
      {.state_dir = parts->place.places.state_dir, .libexec_dir = install->libexec_dir, .artefacts = ignore_test});
  parts->broker = std::make_unique<Broker>(parts->loop, *parts->executor, parts->tree, parts->editor,
                                           broker_options(parts->place), std::move(options.events));
  return std::unique_ptr<PersonSession>(new PersonSession(std::move(parts)));
}

}  // namespace escrow::server::cli
