package io.troupe.run.console;

import io.troupe.cluster.diagnostics.Diagnostics;
import io.troupe.console.process.JvmReport;
import io.troupe.console.process.JvmReportCodec;
import io.troupe.console.process.LocalJvm;
import io.troupe.run.mailbox.MailboxMetrics;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Answers for a process of a cluster that is not the coordinator. */
public final class ProcessProbe implements Diagnostics.Probe {
  private final LocalJvm own;
  private final Optional<VerifierService> verifiers;
  private final Runnable leave;

  private ProcessProbe(LocalJvm own, Optional<VerifierService> verifiers, Runnable leave) {
    this.own = own;
    this.verifiers = verifiers;
    this.leave = leave;
  }

  /**
   * Creates the probe of a worker's process.
   *
   * @param name {@code NODE-wN}, as node agents name workers
   * @param drain lets it finish its groups and end
   */
  public static ProcessProbe ofWorker(String name, VerifierService verifiers, Runnable drain) {
    String node = name.replaceFirst("-w[0-9]+$", "");
    LocalJvm own =
        new LocalJvm(
            name,
            "worker",
            node,
            List::of,
            () -> VerifierRows.of(verifiers, name),
            MailboxMetrics::rows,
            HeldTurnRows::ofThisProcess);
    return new ProcessProbe(own, Optional.of(verifiers), drain);
  }

  /**
   * Creates the probe of a node agent's process.
   *
   * @param drain lets the node finish its groups and leave
   */
  public static ProcessProbe ofNode(
      String name, Supplier<List<JvmReport.GpuReport>> gpus, Runnable drain) {
    return new ProcessProbe(
        new LocalJvm(name, "node", name, gpus, List::of, MailboxMetrics::rows, List::of),
        Optional.empty(),
        drain);
  }

  @Override
  public byte[] inspect(Diagnostics.Topic topic, String argument)
      throws IOException, InterruptedException {
    return switch (topic) {
      case REPORT -> JvmReportCodec.pack(own.report());
      case THREADS -> JvmReportCodec.pack(own.threads());
      case FLAME -> JvmReportCodec.pack(own.flame(Duration.ofSeconds(Long.parseLong(argument))));
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
