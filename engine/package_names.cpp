#include "engine/package_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace escrow::engine {
namespace {

/// What attackers imitate: the most depended-upon packages of the big registries, of five letters and more.
constexpr std::array kWellKnown = std::to_array<std::string_view>({
    // Python
    "requests",
    "numpy",
    "pandas",
    "flask",
    "django",
    "boto3",
    "botocore",
    "urllib3",
    "setuptools",
    "certifi",
    "cryptography",
    "pyyaml",
    "jinja2",
    "pillow",
    "scipy",
    "matplotlib",
    "pytest",
    "sqlalchemy",
    "tensorflow",
    "torch",
    "scikit-learn",
    "beautifulsoup4",
    "selenium",
    "colorama",
    "click",
    "pydantic",
    "fastapi",
    "uvicorn",
    "aiohttp",
    "httpx",
    "redis",
    "celery",
    "psycopg2",
    "psycopg2-binary",
    "pymongo",
    "paramiko",
    "werkzeug",
    "python-dateutil",
    "idna",
    "charset-normalizer",
    "packaging",
    "wheel",
    "virtualenv",
    "transformers",
    "openai",
    "anthropic",
    "langchain",
    "protobuf",
    "grpcio",
    "tqdm",
    "attrs",
    "jsonschema",
    "markupsafe",
    "lxml",
    "rich",
    "black",
    "gunicorn",
    "discord.py",
    "python-jose",
    "pyjwt",
    "passlib",
    "bcrypt",
    "itsdangerous",
    "simplejson",
    "websockets",
    "httplib2",
    "docutils",
    "sphinx",
    "ansible",
    "scrapy",
    "keras",
    "opencv-python",
    "python-dotenv",
    // JavaScript
    "react",
    "react-dom",
    "lodash",
    "express",
    "axios",
    "chalk",
    "commander",
    "webpack",
    "typescript",
    "eslint",
    "prettier",
    "moment",
    "async",
    "underscore",
    "jquery",
    "angular",
    "electron",
    "mongoose",
    "dotenv",
    "uuid",
    "cross-env",
    "body-parser",
    "socket.io",
    "jsonwebtoken",
    "passport",
    "nodemon",
    "rimraf",
    "glob",
    "minimist",
    "yargs",
    "inquirer",
    "node-fetch",
    "cheerio",
    "puppeteer",
    "playwright",
    "vitest",
    "next",
    "svelte",
    "redux",
    "graphql",
    "prisma",
    "sequelize",
    "mysql2",
    "winston",
    "bluebird",
    "request",
    "debug",
    "semver",
    "colors",
    "validator",
    "styled-components",
    "classnames",
    "date-fns",
    "fs-extra",
    "mocha",
    "jest",
    "babel",
    "rollup",
    "esbuild",
    "vite",
    "tailwindcss",
    "postcss",
    "autoprefixer",
    "rxjs",
    "tslib",
    "zod",
    "crypto-js",
    "ethers",
    "web3",
    "handlebars",
    "mustache",
    "nodemailer",
    "multer",
    "helmet",
    "bcryptjs",
    "formik",
    "fastify",
    "ioredis",
    // Rust
    "serde",
    "serde_json",
    "tokio",
    "reqwest",
    "anyhow",
    "thiserror",
    "regex",
    "clap",
    "rustdecimal",
    "rust_decimal",
    "futures",
    "hyper",
    "tracing",
    "chrono",
    "rayon",
    "lazy_static",
    "once_cell",
    "itertools",
    "bytes",
    "openssl",
    "rustls",
    "diesel",
    "axum",
    "actix-web",
    "crossbeam",
    "num_cpus",
    "async-trait",
    "env_logger",
    "libc",
    "syn",
    "quote",
    // Ruby, PHP, Java, Go by their last word
    "rails",
    "rspec",
    "nokogiri",
    "devise",
    "sidekiq",
    "puma",
    "bundler",
    "activerecord",
    "activesupport",
    "faraday",
    "rubocop",
    "sinatra",
    "rest-client",
    "httparty",
    "pg_query",
    "guzzle",
    "monolog",
    "symfony",
    "laravel",
    "phpunit",
    "spring-boot-starter-web",
    "jackson-databind",
    "log4j-core",
    "commons-lang3",
    "guava",
    "junit",
    "mockito-core",
    "hibernate-core",
    "testify",
    "cobra",
    "viper",
    "logrus",
    "gorm",
    "gorilla",
});

/// Honest neighbours of the above.
constexpr std::array kHonestNeighbours = std::to_array<std::string_view>(
    {"preact",   "request", "requests", "lodash-es", "nextjs",  "glob2",  "color",  "colors", "bcrypt",
     "bcryptjs", "psycopg", "psycopg2", "redis",     "ioredis", "pytest", "flask",  "asyncs", "futures",
     "future",   "quotes",  "tokio",    "vitest",    "vite",    "vitess", "jest",   "nest",   "test",
     "black",    "block",   "puma",     "click",     "clack",   "mysql",  "mysql2", "moment", "momento",
     "serde",    "rollup",  "guava",    "junit5",    "sphinx",  "uuid4",  "axios",  "axum",   "hyper",
     "hyperx",   "chalk",   "torch",    "async",     "asyn",    "attr",   "attrs",  "rich",   "clap",
     "syn",      "regex",   "glob",     "globby",    "babel",   "label",  "debug"});

std::string fold_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == '.') c = '-';
  }
  return out;
}

std::string without_separators(std::string_view name) {
  std::string out;
  std::copy_if(name.begin(), name.end(), std::back_inserter(out), [](char c) { return c != '-'; });
  return out;
}

struct KnownName {
  std::string_view name;
  std::string folded, joined;
};

const std::vector<KnownName>& known_names() {
  static const std::vector<KnownName> names = [] {
    std::vector<KnownName> out;
    for (const std::string_view name : kWellKnown) {
      const std::string folded = fold_name(name);
      if (folded.size() >= 5) out.push_back({name, folded, without_separators(folded)});
    }
    return out;
  }();
  return names;
}

bool is_honest(std::string_view folded) {
  return std::find(kHonestNeighbours.begin(), kHonestNeighbours.end(), folded) != kHonestNeighbours.end();
}

}  // namespace

bool is_one_slip_apart(std::string_view a, std::string_view b) {
  if (a == b) return false;
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin());
  const std::string_view rest_a(a.data() + (x - a.begin()), static_cast<std::size_t>(a.end() - x));
  const std::string_view rest_b(b.data() + (y - b.begin()), static_cast<std::size_t>(b.end() - y));
  if (a.size() != b.size()) return rest_a == rest_b.substr(1);
  if (rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a.size() >= 2 && rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a.substr(2) == rest_b.substr(2);
}

std::optional<std::string_view> find_lookalike_package(std::string_view name) {
  const std::string folded = fold_name(name), joined = without_separators(folded);
  if (folded.size() < 5 || is_honest(folded)) return std::nullopt;
  std::optional<std::string_view> near;
  for (const KnownName& known : known_names()) {
    if (known.folded == folded) return std::nullopt;
    if (is_one_slip_apart(folded, known.folded) || joined == known.joined) near = known.name;
  }
  return near;
}

}  // namespace escrow::engine
