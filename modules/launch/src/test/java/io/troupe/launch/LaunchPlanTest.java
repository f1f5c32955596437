package io.troupe.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.launch.remote.RemoteHost;
import org.junit.jupiter.api.Test;

final class LaunchPlanTest {
  private static final RemoteHost COORDINATOR = new RemoteHost("ops@10.0.0.1", "10.0.0.1", 22);
  private static final RemoteHost NODE = new RemoteHost("10.0.0.2", "10.0.0.2", 22);

  private static LaunchPlan plan(int ranksPort, int ranks, boolean keys, boolean plain) {
    return new LaunchPlan(7400, 7410, ranksPort, ranks, keys, plain);
  }

  @Test
  void arguments_ranksOnNodesWithKeys_nameTheirPortsAndTheKeysOfTheHost() {
    LaunchPlan plan = plan(7420, 2, true, false);
    assertThat(String.join(" ", plan.train(COORDINATOR)))
        .isEqualTo(
            "train run.yaml --cluster --address 10.0.0.1 --port 7400 --weights-port 7410"
                + " --ranks-port 7420 --tls keys");
    assertThat(String.join(" ", plan.agent(NODE, COORDINATOR)))
        .isEqualTo(
            "node --name 10.0.0.2 --address 10.0.0.2 --port 7401 --weights-port 7411 --seed"
                + " 10.0.0.1:7400 --config run.yaml --data node-data --ranks-port 7421 --tls"
                + " keys");
    assertThat(plan.ports()).containsExactly(7400, 7401, 7410, 7411, 7420, 7421, 7422);
  }

  @Test
  void arguments_plainWithoutRanks_haveNeither() {
    LaunchPlan plan = plan(7420, 0, false, true);
    assertThat(String.join(" ", plan.train(COORDINATOR)))
        .endsWith("--weights-port 7410 --allow-plain-tcp");
    assertThat(plan.ports()).containsExactly(7400, 7401, 7410, 7411);
  }

  @Test
  void plan_portsThatCollideOrTwoKindsOfTransport_areRefused() {
    assertThatThrownBy(() -> plan(7409, 2, true, false).ports())
        .hasMessageContaining("need ports of their own");
    assertThatThrownBy(() -> plan(7420, 2, true, true)).hasMessageContaining("not both");
  }
}
