#pragma once

// Catch2 2.13 (Debian 12) and 3.7 (Debian 13) differ in their headers and, for our use, in nothing else.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#else
#include <catch2/catch.hpp>
#endif
