#pragma once

/// The person's terminal: one file a subcommand, each registered with CLI11 in its .cpp.
namespace escrow::server::cli {

/// Parses, runs, and returns the process's exit code. stdout carries the answer and nothing else; trouble is one line
/// on stderr.
int run(int argc, char** argv);

/// `score` and `classify`, which hooks call hundreds of times a session: the same definitions, in a program that links
/// nothing but the judge (loading libgit2 and its kin would take longer than judging).
bool is_quick(int argc, char** argv);
int run_quick(int argc, char** argv);

}  // namespace escrow::server::cli
