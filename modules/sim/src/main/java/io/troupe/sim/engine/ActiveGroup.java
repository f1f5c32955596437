package io.troupe.sim.engine;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.sim.model.GroupDraw;
import java.util.Arrays;
import java.util.List;

/** A group that a worker has: what will be sampled of it, and what is. */
final class ActiveGroup {
  private final LeaseId lease;
  private final GroupDraw draw;
  private final TokenVersions[] versions;
  private double joined;
  private int left;

  ActiveGroup(LeaseId lease, GroupDraw draw) {
    this.lease = lease;
    this.draw = draw;
    this.left = draw.lengths().length;
    this.versions = new TokenVersions[left];
  }

  LeaseId lease() {
    return lease;
  }

  int[] lengths() {
    return draw.lengths();
  }

  List<Double> rewards() {
    return draw.rewards();
  }

  List<TokenVersions> versions() {
    return Arrays.asList(versions);
  }

  double joined() {
    return joined;
  }

  void join(double step) {
    joined = step;
  }

  /** Ends a completion; returns whether it was the last one. */
  boolean end(int completion, TokenVersions spans) {
    versions[completion] = spans;
    return --left == 0;
  }
}
