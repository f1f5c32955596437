package io.troupe.aws.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Await;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The node of a host whose first host is late, by a program that ends at once. */
final class JobNodeTest {
  @TempDir private Path folder;

  @Test
  void keep_nodeThatEndsBeforeTheJob_startsItAgainUntilTheEnd() throws Exception {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    List<ContainerProcess> started = new CopyOnWriteArrayList<>();
    JobNode node =
        JobNode.keep(
            () -> {
              ContainerProcess process =
                  ContainerProcess.start("node", List.of("no-command"), Map.of(), folder, out);
              started.add(process);
              return process;
            },
            out);

    Await.until("a third start", () -> started.size() >= 3);
    node.end(Duration.ofSeconds(20));

    int starts = started.size();
    assertThat(started).noneMatch(ContainerProcess::isAlive);
    assertThat(said.toString(StandardCharsets.UTF_8))
        .contains("before the job did; starts it again");
    assertThat(started).hasSize(starts);
  }
}
