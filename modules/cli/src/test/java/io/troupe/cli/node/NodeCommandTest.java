package io.troupe.cli.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class NodeCommandTest {
  @Test
  void node_addressBeyondLoopbackWithoutKeys_isBadUsage() {
    StringWriter said = new StringWriter();
    CommandLine command = Main.commandLine().setErr(new PrintWriter(said));

    int code = command.execute("node", "--address", "192.0.2.1", "--seed", "192.0.2.1:7400");

    assertThat(code).isEqualTo(ExitCode.USAGE.code());
    assertThat(said.toString()).contains("192.0.2.1", "set cluster.tls", "--allow-plain-tcp");
  }
}
