package io.troupe.store.folder;

/** The source code a run was started from, as git knows it. */
public sealed interface GitState {
  /**
   * A work tree with a commit.
   *
   * @param commit full hash
   * @param branch "" when the head is detached
   * @param status a line for each tracked file that differs from the commit, and each untracked one
   * @param diff the tracked files' difference from the commit, as a patch
   * @param diffCut whether the patch was too long and misses its end
   */
  record WorkTree(String commit, String branch, String status, String diff, boolean diffCut)
      implements GitState {
    /** Whether tracked files differ from the commit or untracked ones exist. */
    public boolean dirty() {
      return !status.isBlank();
    }
  }

  /**
   * Git knows no state of the source code.
   *
   * @param reason why
   */
  record Absent(String reason) implements GitState {}
}
