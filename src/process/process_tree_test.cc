#include "process/process_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace muster::process::process_tree_test {
namespace {

using ::testing::IsEmpty;

/// Runs in a process of its own, a subreaper; its exit code, 99 for a signal.
template <class Body>
int in_subreaper(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        ::alarm(20);
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

bool alone() { return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD; }

TEST(ProcessTree, WhatLeftItsGroupAndItsParentIsKilled) {
    EXPECT_EQ(in_subreaper([] {
                  int ready[2];
                  if (::pipe(ready) < 0) return 2;
                  if (::fork() == 0) {
                      ::setsid();
                      if (::fork() == 0) {
                          ::setsid();
                          ::signal(SIGTERM, SIG_IGN);
                          if (::write(ready[1], "x", 1) < 0) ::_exit(2);
                          for (;;) ::pause();
                      }
                      ::_exit(0);
                  }
                  char byte = 0;
                  if (::read(ready[0], &byte, 1) != 1) return 3;
                  kill_descendants();
                  return alone() ? 0 : 1;
              }),
              0);
}

/// Each of its processes forks on as fast as it can.
[[noreturn]] void fork_without_end() {
    for (;;) ::fork();
}

TEST(ProcessTree, AForkBombEnds) {
    EXPECT_EQ(in_subreaper([] {
                  if (::fork() == 0) {
                      ::setpgid(0, 0);
                      ::nice(19);
                      fork_without_end();
                  }
                  while (descendants_of(::getpid()).size() < 50) {
                  }
                  kill_descendants();
                  return alone() ? 0 : 1;
              }),
              0);
}

TEST(ProcessTree, DescendantsAreThoseBelow) {
    EXPECT_EQ(in_subreaper([] {
                  const pid_t child = ::fork();
                  if (child == 0)
                      for (;;) ::pause();
                  const auto found = descendants_of(::getpid());
                  kill_descendants();
                  return found.size() == 1 && found.front() == child ? 0 : 1;
              }),
              0);
    EXPECT_THAT(descendants_of(::getpid()), IsEmpty());
}

}  // namespace
}  // namespace muster::process::process_tree_test
