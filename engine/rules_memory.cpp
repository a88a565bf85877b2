#include "engine/rules.h"

namespace escrow::engine {
namespace {

constexpr LanguageMask kC = bit(Language::c);

constexpr LinePattern kMemoryPatterns[] = {
    {"memory-unsafe",
     {"strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "lstrcpy"},
     R"re((?:^|[^.\w>])(?:std::)?(?:strcpy|strcat|stpcpy|wcscpy|wcscat|lstrcpy[AW]?)\s*\(\s*[^,()]+(?:\([^)]*\))?[^,]*,\s*[^"\s])re",
     Where::code,
     kC},
    {"memory-unsafe", {"sprintf", "vsprintf"}, R"re((?:^|[^.\w>])(?:std::)?v?sprintf\s*\()re", Where::code, kC},
    {"memory-unsafe", {"gets"}, R"re((?:^|[^.\w>])gets\s*\()re", Where::code, kC},
    {"memory-unsafe", {"scanf"}, R"re(\b[fs]?scanf\s*\([^"]*"[^"]*%s)re", Where::code, kC},
    {"memory-unsafe",
     {"printf", "syslog"},
     R"re((?:^|[^.\w>])(?:printf|vprintf)\s*\(\s*[a-z_][\w.\->\[\]]*\s*\)|\bfprintf\s*\(\s*\w+\s*,\s*[a-z_][\w.\->]*\s*\)|\bsyslog\s*\(\s*\w+\s*,\s*[a-z_][\w.\->]*\s*\)|\bsnprintf\s*\([^,]+,[^,]+,\s*[a-z_][\w.\->]*\s*\))re",
     Where::code,
     kC,
     kSource,
     0,
     kPlain,
     "a variable is used as the format"},
    {"memory-unsafe",
     {"memcpy", "memmove", "strncpy", "strncat", "bcopy"},
     R"re(\b(?:memcpy|memmove|strncpy|strncat|bcopy)\s*\([^;]*\bstrlen\s*\()re",
     Where::code,
     kC},
    // A length in a variable may well be checked above; the finding alone stays low.
    {"memory-unsafe",
     {"memcpy", "memmove"},
     R"re(\b(?:memcpy|memmove)\s*\([^,]+,[^,]+,\s*[a-z_]\w*(?:(?:->|\.)\w+)*\s*(?:\+\s*\w+\s*|\*\s*\w+\s*)?\))re",
     Where::code,
     kC,
     kSource,
     20},
    {"memory-unsafe",
     {"alloca", "reinterpret_cast", "const_cast"},
     R"re((?:^|[^.\w>])alloca\s*\(\s*[a-z])re",
     Where::code,
     kC},
    {"memory-unsafe",
     {"malloc"},
     R"re(\bmalloc\s*\(\s*[a-z_][\w.\->]*\s*\*\s*[a-z_][\w.\->]*\s*\))re",
     Where::code,
     kC,
     kSource,
     0,
     kPlain,
     "the size of the allocation may overflow"},
    {"memory-unsafe", {"unsafe"}, R"re(\bunsafe\s*(?:\{|fn\b|impl\b|trait\b))re", Where::code, bit(Language::rust)},
    {"memory-unsafe",
     {"transmute", "get_unchecked", "from_raw_parts", "from_utf8_unchecked", "unwrap_unchecked", "set_len",
      "maybeuninit"},
     R"re(\btransmute\b|\bget_unchecked(?:_mut)?\s*\(|\bfrom_raw_parts(?:_mut)?\s*\(|\bfrom_utf8_unchecked\s*\(|\bunwrap_unchecked\s*\(|\.set_len\s*\(|\bassume_init\s*\()re",
     Where::code,
     bit(Language::rust)},
    {"memory-unsafe",
     {"unsafe.", "sliceheader", "stringheader"},
     R"re(\bunsafe\.(?:Pointer|Slice|String|Add)\b|\breflect\.(?:Slice|String)Header\b)re",
     Where::code,
     bit(Language::go)},
    {"memory-unsafe",
     {"unsafe", "marshal.copy", "stackalloc"},
     R"re(\bunsafe\s*(?:\{|static|void|class)|\bMarshal\.(?:Copy|PtrToStructure)\s*\()re",
     Where::code,
     bit(Language::csharp)},
    {"memory-unsafe",
     {"unsafebufferpointer", "unsafemutable", "unsafebitcast", "assumingmemorybound"},
     R"re(\bUnsafe(?:Mutable)?(?:Raw|Buffer)?(?:Buffer)?Pointer\b|\bunsafeBitCast\s*\()re",
     Where::code,
     bit(Language::swift)},
};

}  // namespace

std::span<const LinePattern> memory_patterns() {
  return kMemoryPatterns;
}

}  // namespace escrow::engine
