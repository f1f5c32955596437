package io.troupe.environments.box;

import java.util.List;

/**
 * The contents of a task's box, and the paths that are handed in.
 *
 * @param contents of the policy's box
 * @param handedIn files and folders that the policy hands in; none if its last answer is all
 */
public record BoxTask(BoxContents contents, List<String> handedIn) {
  /** A task without files: the last answer is judged. */
  public static final BoxTask NONE = new BoxTask(BoxContents.NONE, List.of());

  public BoxTask {
    handedIn = List.copyOf(handedIn);
  }
}
