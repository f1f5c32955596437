package io.troupe.app.console;

import io.troupe.cluster.Lookout;
import io.troupe.console.JvmReport;
import io.troupe.console.JvmWire;
import io.troupe.console.OwnJvm;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Answers for a process of a cluster that is not the head. */
public final class ProcessEyes implements Lookout.Eyes {
  private final OwnJvm own;
  private final Optional<VerifierService> verifiers;
  private final Runnable leave;

  private ProcessEyes(OwnJvm own, Optional<VerifierService> verifiers, Runnable leave) {
    this.own = own;
    this.verifiers = verifiers;
    this.leave = leave;
  }

  /**
   * Of a worker's process.
   *
   * @param name {@code NODE-wN}, as node agents name workers
   * @param drain lets it finish its groups and end
   */
  public static ProcessEyes ofWorker(String name, VerifierService verifiers, Runnable drain) {
    String node = name.replaceFirst("-w[0-9]+$", "");
    OwnJvm own =
        new OwnJvm(
            name,
            "worker",
            node,
            List::of,
            () -> VerifierRows.of(verifiers, name),
            ActorMeters::rows);
    return new ProcessEyes(own, Optional.of(verifiers), drain);
  }

  /**
   * Of a node agent's process.
   *
   * @param drain lets the node finish its groups and leave
   */
  public static ProcessEyes ofNode(
      String name, Supplier<List<JvmReport.Gpu>> gpus, Runnable drain) {
    return new ProcessEyes(
        new OwnJvm(name, "node", name, gpus, List::of, ActorMeters::rows), Optional.empty(), drain);
  }

  @Override
  public byte[] look(Lookout.Topic topic, String argument)
      throws IOException, InterruptedException {
    return switch (topic) {
      case REPORT -> JvmWire.pack(own.report());
      case THREADS -> JvmWire.pack(own.threads());
      case FLAME -> JvmWire.pack(own.flame(Duration.ofSeconds(Long.parseLong(argument))));
      case QUARANTINE -> done(service().quarantine(argument));
      case RELEASE -> done(service().release(argument));
      case DRAIN -> {
        leave.run();
        yield new byte[0];
      }
    };
  }

  private VerifierService service() throws IOException {
    return verifiers.orElseThrow(() -> new IOException("this process has no verifiers"));
  }

  private static byte[] done(Optional<String> refused) throws IOException {
    if (refused.isPresent()) {
      throw new IOException(refused.get());
    }
    return new byte[0];
  }
}
