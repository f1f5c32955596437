package io.troupe.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.CommandOutput;
import org.junit.jupiter.api.Test;

class NodeCommandTest {
  @Test
  void node_addressBeyondLoopbackWithoutKeys_isBadUsage() {
    CommandOutput said =
        CommandOutput.ending(
            ExitCode.USAGE.code(), "node", "--address", "192.0.2.1", "--seed", "192.0.2.1:7400");

    assertThat(said.err()).contains("192.0.2.1", "set cluster.tls", "--allow-plain-tcp");
  }
}
