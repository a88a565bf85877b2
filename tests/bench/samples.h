#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What was measured, and how it is printed.
namespace escrow::bench {

/// Measured values: nanoseconds, or bytes.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  std::size_t count() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  /// The nearest-rank percentile, 0 (the smallest) to 100. Not to be asked of nothing.
  double percentile(double percent) const;
  double best() const { return percentile(0); }

 private:
  std::vector<double> values_;
};

enum class Unit { time, bytes, per_second };

/// One line of the report.
struct Row {
  std::string work;
  Unit unit = Unit::time;
  Samples samples;
  std::string against;       ///< what the ratio is to; empty if there is none
  Samples peer;              ///< measured in the same rounds
  std::string target;        ///< as performance goals state it; empty if there is none
  std::string not_measured;  ///< why there is no value; empty if there is one
};

/// `4.12 ms`, `23.1 MB`; of nanoseconds a request, `51,200 /s`.
std::string to_text(double value, Unit unit);

/// The rows as one table, aligned.
std::string to_table(const std::vector<Row>& rows);

}  // namespace escrow::bench
