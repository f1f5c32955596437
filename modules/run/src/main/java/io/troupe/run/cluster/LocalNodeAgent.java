package io.troupe.run.cluster;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ChildSpec;
import io.troupe.run.child.RestartedChild;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The node agent of a run on one host: the coordinator starts it, starts it again when it ends, and
 * ends it with the run. It never outlives the coordinator, because its standard input is a pipe
 * from there.
 */
public final class LocalNodeAgent implements AutoCloseable {
  /** The agent's name in the cluster. */
  public static final String NAME = "local";

  private static final int HEAP_MEBIBYTES = 256;

  /** For the leases in flight and the processes of the node. */
  private static final Duration DRAIN = Duration.ofSeconds(30);

  private final Path folder;
  private final String gpus;
  private final Consumer<String> say;
  private final RestartedChild child;

  /**
   * An agent that is not started yet.
   *
   * @param run folder of the run, which gets the agent's log and the data of the node
   * @param gpus {@code --gpus} of the agent
   * @param say takes lines for the operator
   */
  public LocalNodeAgent(Path run, String gpus, Consumer<String> say) {
    this.folder = run.toAbsolutePath().normalize();
    this.gpus = gpus;
    this.say = say;
    this.child =
        new RestartedChild(NAME, "the node agent of this host (log: %s)".formatted(log()), say);
  }

  private Path log() {
    return folder.resolve("cluster").resolve("node.log");
  }

  /**
   * Starts the node agent's process.
   *
   * @param network options by which it finds the coordinator
   */
  public void start(List<String> network) throws IOException {
    Files.createDirectories(folder.resolve("cluster"));
    List<String> command = new ArrayList<>(ChildJvm.command(HEAP_MEBIBYTES));
    command.addAll(List.of("node", "--with-parent", "--name", NAME, "--gpus", gpus));
    command.addAll(List.of("--data", folder.resolve("node-data").toString()));
    command.addAll(network);
    // Relative paths in the configuration are relative to where the coordinator was started.
    Path here = Path.of("").toAbsolutePath();
    ChildSpec agent = new ChildSpec(NAME, command, ChildJvm.environment(), here, log());
    child.start(() -> agent);
    say.accept("node    %s on --gpus %s (log: %s)".formatted(NAME, gpus, log()));
  }

  /** Lets it finish its work, ends it, and returns when it has ended. */
  @Override
  public void close() {
    child.finish(DRAIN);
  }
}
