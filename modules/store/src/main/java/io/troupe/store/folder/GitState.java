package io.troupe.store.folder;

/** The source code a run was started from, as git knows it. */
public sealed interface GitState {
  /**
   * A work tree with a commit.
   *
   * @param commit full hash
   * @param branch "" when the head is detached
   * @param dirty whether tracked files differ from the commit or untracked ones exist
   * @param diff the tracked files' difference from the commit, as a patch
   * @param diffCut whether the patch was too long and misses its end
   */
  record WorkTree(String commit, String branch, boolean dirty, String diff, boolean diffCut)
      implements GitState {}

  /**
   * Nothing that git can say.
   *
   * @param reason why
   */
  record Absent(String reason) implements GitState {}
}
