package io.troupe.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ClusterIdentityTest {
  private static final ClusterIdentity OURS = new ClusterIdentity("lab", "1-ab");

  @Test
  void objectionTo_same_isNone() {
    assertThat(OURS.incompatibilityWith(new ClusterIdentity("lab", "1-ab"))).isEmpty();
  }

  @Test
  void objectionTo_otherCluster_namesBoth() {
    assertThat(OURS.incompatibilityWith(new ClusterIdentity("den", "1-ab")).orElseThrow())
        .startsWith("this cluster is 'lab' and not 'den'");
  }

  @Test
  void objectionTo_otherBuild_namesBoth() {
    assertThat(OURS.incompatibilityWith(new ClusterIdentity("lab", "1-cd")).orElseThrow())
        .startsWith("this cluster runs build 1-ab and not 1-cd");
  }
}
