#include "tests/bench/samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace escrow::bench {
namespace {

std::string number(double value, const char* unit) {
  std::array<char, 64> text{};
  const int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, unit);
  return text.data();
}

std::string grouped(double value) {
  std::string digits = std::to_string(std::llround(value));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string time_text(double ns) {
  if (ns < 1e3) return number(ns, " ns");
  if (ns < 1e6) return number(ns / 1e3, " us");
  if (ns < 1e9) return number(ns / 1e6, " ms");
  return number(ns / 1e9, " s");
}

std::string byte_text(double bytes) {
  if (std::abs(bytes) < 1e3) return number(bytes, " B");
  if (std::abs(bytes) < 1e6) return number(bytes / 1e3, " KB");
  return number(bytes / 1e6, " MB");
}

using Cells = std::array<std::string, 8>;

/// Percentile by percentile: a slow tail of ours is held against the peer's tail, which the same machine made slow.
std::string ratio_text(const Row& row) {
  if (row.peer.empty()) return "";
  std::string text;
  for (const double percent : {50.0, 95.0, 99.0})
    text += (text.empty() ? "" : " / ") + number(row.samples.percentile(percent) / row.peer.percentile(percent), "");
  return text + " x " + row.against;
}

Cells cells_of(const Row& row) {
  if (row.samples.empty()) return {row.work, "-", "", "", "", "0", "not measured: " + row.not_measured, row.target};
  const auto at = [&](double percent) { return to_text(row.samples.percentile(percent), row.unit); };
  const bool single = row.samples.count() == 1;
  return {row.work,
          at(50),
          single ? "" : at(95),
          single ? "" : at(99),
          single ? "" : to_text(row.samples.best(), row.unit),
          std::to_string(row.samples.count()),
          ratio_text(row),
          row.target};
}

/// Columns, not bytes: none of the texts holds anything but ASCII.
std::string padded_to(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

double Samples::percentile(double percent) const {
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string to_text(double value, Unit unit) {
  switch (unit) {
    case Unit::time:
      return time_text(value);
    case Unit::bytes:
      return byte_text(value);
    case Unit::per_second:
      return grouped(1e9 / value) + " /s";
  }
  return {};
}

std::string to_table(const std::vector<Row>& rows) {
  std::vector<Cells> lines{{"work", "p50", "p95", "p99", "best", "n", "ratio p50 / p95 / p99", "target"}};
  for (const Row& row : rows) lines.push_back(cells_of(row));
  std::array<std::size_t, 8> widths{};
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const Cells& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i)
      text += (i == 0 ? "" : "  ") + padded_to(line[i], widths[i], i >= 1 && i <= 5);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace escrow::bench
