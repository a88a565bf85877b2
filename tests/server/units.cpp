#include "server/units.h"

#include "tests/catch.h"

using namespace escrow::server;

TEST_CASE("a time has a unit, and nothing else is one") {
  CHECK(parse_duration_ms("500ms") == 500);
  CHECK(parse_duration_ms("30s") == 30'000);
  CHECK(parse_duration_ms("5m") == 300'000);
  CHECK(parse_duration_ms("24h") == 86'400'000);
  CHECK(parse_duration_ms("7d") == 604'800'000);
  for (const auto* text :
       {"", "5", "m", "-5m", "5 m", "5M", "1.5h", "5mm", "99999999999999999999s", "9223372036854775807d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration_ms(text).has_value());
  }
}

TEST_CASE("a size is in powers of 1024") {
  CHECK(parse_bytes("0") == 0u);
  CHECK(parse_bytes("1048576") == 1048576u);
  CHECK(parse_bytes("512K") == 524288u);
  CHECK(parse_bytes("4G") == 4294967296u);
  for (const auto* text : {"", "G", "4GB", "-1", "4.5G", "18446744073709551615T", "0x10"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_bytes(text).has_value());
  }
}

TEST_CASE("times and sizes are shown in the unit a person would choose") {
  CHECK(format_duration_ms(48) == "48 ms");
  CHECK(format_duration_ms(1200) == "1.2 s");
  CHECK(format_duration_ms(300'000) == "5 min");
  CHECK(format_duration_ms(86'400'000) == "24 h");
  CHECK(format_bytes(812) == "812 B");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(4294967296) == "4 GiB");
}
