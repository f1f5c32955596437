package io.troupe.sim.engine;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Input;
import java.util.List;

/** A group that a worker has: what will be sampled of it, and what is. */
final class ActiveGroup {
  private final LeaseId lease;
  private final GroupContent content;
  private List<TokenVersions> versions = List.of();
  private int[] lengths = {};
  private int longest;
  private double joined;
  private int left;

  ActiveGroup(LeaseId lease, GroupContent content) {
    this.lease = lease;
    this.content = content;
    this.left = content.completions();
  }

  LeaseId lease() {
    return lease;
  }

  int completions() {
    return content.completions();
  }

  boolean followsWeights() {
    return content.followsWeights();
  }

  /** Tokens of each completion, once it has joined. */
  int[] lengths() {
    return lengths;
  }

  /** Returns the input that the coordinator receives once the group is judged. */
  Input judged() {
    return content.judged(lease, versions);
  }

  double joined() {
    return joined;
  }

  void join(double step) {
    joined = step;
  }

  /** Takes what these versions sample. */
  void sample(TokenVersions present) {
    lengths = content.lengths(present);
    longest = 0;
    for (int length : lengths) {
      longest = Math.max(longest, length);
    }
  }

  /** The engine's step at which its last completion has its last token. */
  double leaves() {
    return joined + longest;
  }

  /** Ends a completion; returns whether it was the last one. */
  boolean endOne() {
    return --left == 0;
  }

  /** Takes the versions of all completions, which have ended. */
  void end(List<TokenVersions> all) {
    versions = all;
  }
}
