#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace escrow::server {

/// An open document as the editor last synchronised it.
struct OpenText {
  std::string text;
  std::int64_t version = 0;
};

/// What became of an edit. Clients misreport `applied`, so only the text that comes back counts.
enum class EditOutcome { applied, declined, unverified };

/// The person's editor, as far as the gate needs it. Loop thread only. A terminal has none (`NoEditor`).
class Editor {
 public:
  virtual ~Editor() = default;
  /// Text of the document if it is open; `path` is an absolute decoded path.
  virtual std::optional<OpenText> open_text(const std::string& path) = 0;
  /// Text of open documents below `root` (absolute) that are not as the disk has them, by root-relative path.
  virtual std::map<std::string, std::string> unsaved_texts(const std::string& root) = 0;
  /// Replaces the text of an open document by one versioned edit; `done` is called once, when a didChange has brought
  /// exactly `text`, when the client declined, or when neither came in time.
  virtual void replace_text(const std::string& path, std::int64_t version, const std::string& text,
                            std::function<void(EditOutcome)> done) = 0;
  /// Asks the editor to save it; no answer is awaited (a client may not be able to).
  virtual void save(const std::string& path) = 0;
  /// True if a person can see and answer a prompt here.
  virtual bool has_person() const = 0;
};

/// No editor: every file is the disk's, and a prompt has nobody to answer it.
class NoEditor final : public Editor {
 public:
  std::optional<OpenText> open_text(const std::string&) override { return std::nullopt; }
  std::map<std::string, std::string> unsaved_texts(const std::string&) override { return {}; }
  void replace_text(const std::string&, std::int64_t, const std::string&,
                    std::function<void(EditOutcome)> done) override {
    done(EditOutcome::declined);
  }
  void save(const std::string&) override {}
  bool has_person() const override { return false; }
};

}  // namespace escrow::server
