#include "server/store/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "server/store/policy_ratchet.h"
#include "server/store/policy_yaml.h"

namespace escrow::server {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Error refused_file(const std::string& file, const std::string& why) {
  return {ErrorKind::invalid_params, file + ": " + why};
}

/// Whoever may write the file decides what agents may do.
Result<void> check_owner(const std::string& file, const struct stat& status, engine::LayerKind kind) {
  if (!S_ISREG(status.st_mode)) return refused_file(file, "is not a regular file; replace it by one or remove it");
  if (kind == engine::LayerKind::workspace) return {};
  const bool own = kind == engine::LayerKind::user && status.st_uid == ::geteuid();
  if (status.st_uid != 0 && !own)
    return refused_file(file, "belongs to another user; its owner could loosen the policy");
  if ((status.st_mode & 022) != 0) return refused_file(file, "can be written by others; run chmod go-w on it");
  return {};
}

Result<std::string> read_all(int fd, const std::string& file) {
  std::string text;
  char buffer[16384];
  while (true) {
    const auto got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(file);
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMaxPolicyBytes) return refused_file(file, "is larger than 1 MiB; a policy is written by hand");
  }
}

/// A workspace's file is opened without following a link: it could point at anything the user may read, and its
/// text would come back in a message.
bool goes_through_link(const std::string& file) {
  struct stat status {};
  const auto directory = file.substr(0, file.rfind('/'));
  return ::lstat(directory.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

/// O_NONBLOCK, or a FIFO would hang us.
int open_flags(engine::LayerKind kind) {
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  return kind == engine::LayerKind::workspace ? flags | O_NOFOLLOW : flags;
}

}  // namespace

std::string workspace_policy_file(const std::string& root) {
  return root + "/.escrow/policy.yaml";
}

std::string user_policy_file(const Places& places) {
  return places.config_dir + "/policy.yaml";
}

Result<std::optional<std::string>> read_policy_text(const std::string& file, engine::LayerKind kind) {
  static constexpr const char* kLink = "is reached through a symbolic link; a workspace's policy must be a plain file";
  if (kind == engine::LayerKind::workspace && goes_through_link(file)) return refused_file(file, kLink);
  const Descriptor fd(::open(file.c_str(), open_flags(kind)));
  if (fd.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    if (errno == ELOOP) return refused_file(file, kLink);
    return io_error(file);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return io_error(file);
  if (auto checked = check_owner(file, status, kind); !checked) return checked.error();
  auto text = read_all(fd.get(), file);
  if (!text) return text.error();
  return std::optional<std::string>(std::move(*text));
}

namespace {

Result<std::optional<engine::PolicyLayer>> parse_layer(const std::optional<std::string>& text, const std::string& file,
                                                       engine::LayerKind kind) {
  if (!text) return std::optional<engine::PolicyLayer>();
  auto parsed = parse_policy(*text, file, kind);
  if (parsed.problems.empty()) return std::optional<engine::PolicyLayer>(std::move(parsed.layer));
  std::string message;
  for (const auto& problem : parsed.problems) message += (message.empty() ? "" : "\n") + to_text(problem, file);
  return Error{ErrorKind::invalid_params, message};
}

/// The layers that could be read, and what is wrong with the others.
struct LoadedLayers {
  std::vector<engine::PolicyLayer> layers;
  std::vector<std::string> notes;
  std::optional<Error> first_error;
};

class Loader {
 public:
  explicit Loader(const Places& places) : places_(places) {}

  void file(const std::string& name, engine::LayerKind kind) {
    auto layer = read_policy_layer(name, kind);
    if (!layer) return fault(layer.error());
    if (*layer) out_.layers.push_back(std::move(**layer));
  }

  /// After the layers around it: the ratchet compares what all of them amount to.
  void workspace(const std::string& root) {
    const std::string name = workspace_policy_file(root);
    const auto text = read_policy_text(name, engine::LayerKind::workspace);
    if (!text) return fault(text.error());
    const auto layer = parse_layer(*text, name, engine::LayerKind::workspace);
    if (!layer) return fault(layer.error());
    auto ratchet = compare_with_remembered(places_, root, text->value_or(""), *layer, out_.layers);
    if (ratchet.moves_up) {
      if (auto kept = remember_workspace_policy(places_, root, text->value_or("")); !kept)
        out_.notes.push_back("the workspace policy cannot be remembered: " + kept.error().message);
    }
    if (*layer) out_.layers.push_back(**layer);
    if (!ratchet.beyond) return;
    out_.notes.push_back(name + ((*layer) ? " says less than before" : " is gone") +
                         ": what it tightened still holds, until you run escrow policy accept");
    out_.layers.push_back(std::move(*ratchet.beyond));
  }

  LoadedLayers take() { return std::move(out_); }

 private:
  void fault(const Error& error) {
    if (!out_.first_error) out_.first_error = error;
  }

  const Places& places_;
  LoadedLayers out_;
};

LoadedLayers load_layers(const Places& places, const std::vector<std::string>& roots) {
  Loader loader(places);
  loader.file(user_policy_file(places), engine::LayerKind::user);
  loader.file(places.system_policy, engine::LayerKind::system);
  for (const auto& root : roots) loader.workspace(root);
  return loader.take();
}

void add_notes(engine::Policy& policy, const std::vector<std::string>& notes) {
  policy.notes.insert(policy.notes.begin(), notes.begin(), notes.end());
}

}  // namespace

Result<std::optional<engine::PolicyLayer>> read_policy_layer(const std::string& file, engine::LayerKind kind) {
  const auto text = read_policy_text(file, kind);
  if (!text) return text.error();
  return parse_layer(*text, file, kind);
}

Result<engine::Policy> load_policy(const Places& places, const std::vector<std::string>& roots) {
  const LoadedLayers loaded = load_layers(places, roots);
  if (loaded.first_error) return *loaded.first_error;
  engine::Policy policy = loaded.layers.empty() ? engine::builtin_policy() : engine::merge_layers(loaded.layers);
  add_notes(policy, loaded.notes);
  return policy;
}

engine::Policy load_policy_or_strict(const Places& places, const std::vector<std::string>& roots) {
  LoadedLayers loaded = load_layers(places, roots);
  engine::Policy policy =
      loaded.first_error ? engine::strict_policy(loaded.layers) : engine::merge_layers(loaded.layers);
  if (loaded.first_error) loaded.notes.insert(loaded.notes.begin(), loaded.first_error->message);
  add_notes(policy, loaded.notes);
  return policy;
}

std::vector<std::string> policy_files(const Places& places, const std::vector<std::string>& roots) {
  std::vector<std::string> files{user_policy_file(places), places.system_policy};
  for (const auto& root : roots) files.push_back(workspace_policy_file(root));
  return files;
}

}  // namespace escrow::server
