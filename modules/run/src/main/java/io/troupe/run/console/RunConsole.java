package io.troupe.run.console;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.config.ConsoleSection;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.console.chat.Chat;
import io.troupe.console.source.ClusterFacts;
import io.troupe.core.run.RunLimits;
import io.troupe.run.mailbox.MeteredMailbox;
import io.troupe.store.folder.RunFolder;
import io.troupe.telemetry.MetricsFile;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.RunViewSettings;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The console of the run of this process, from its start to its end; or none, if it is off. */
public final class RunConsole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RunConsole.class);

  private static final int KEPT_EVENTS = 20_000;

  private final RunFolder folder;
  private final Optional<ConsoleServer> server;
  private final Optional<RunFold> fold;

  private RunConsole(RunFolder folder, Optional<ConsoleServer> server, Optional<RunFold> fold) {
    this.folder = folder;
    this.server = server;
    this.fold = fold;
  }

  /**
   * Opens the console. A console that cannot be opened says so and does not keep the run from
   * training.
   *
   * @param cluster of the run
   * @param chat the run's policy
   * @param say takes a line for the screen
   */
  public static RunConsole open(
      ConsoleSection section,
      RunFolder folder,
      RunLimits limits,
      VerifierService verifiers,
      CompletionStage<StartedRun> started,
      ClusterFacts cluster,
      Chat chat,
      Consumer<String> say) {
    if (!section.enabled()) {
      return new RunConsole(folder, Optional.empty(), Optional.empty());
    }
    RunFold fold = new RunFold(RunViewSettings.of(folder.name(), limits), KEPT_EVENTS);
    try {
      MetricsFile.read(folder.metrics(), 0).forEach(fold::row);
      ConsoleSettings settings = section.settings();
      ConsoleServer server =
          ConsoleServer.start(
              settings,
              new LiveRun(fold, folder, verifiers, started, cluster, chat),
              what -> LOG.warn("console {}", what));
      ConsoleFile.write(folder.path(), server, settings);
      return new RunConsole(folder, Optional.of(server), Optional.of(fold));
    } catch (IOException unopened) {
      say.accept("console: not open, and the run continues without: " + unopened.getMessage());
      return new RunConsole(folder, Optional.empty(), Optional.empty());
    }
  }

  /** Settings of an actor system whose mailboxes report their queues, if the console is open. */
  public static Config meter(ConsoleSection section, Config config) {
    return section.enabled()
        ? ConfigFactory.parseString(
                "akka.actor.typed.default-mailbox.mailbox-type = \"%s\""
                    .formatted(MeteredMailbox.class.getName()))
            .withFallback(config)
        : config;
  }

  /** Returns the link that a person opens in a browser; empty when there is no console. */
  public Optional<String> link() {
    return server.map(ConsoleServer::link);
  }

  /** Takes the events of the run; empty without a console. */
  public Optional<RunFold> fold() {
    return fold;
  }

  @Override
  public void close() throws IOException {
    if (server.isPresent()) {
      server.get().close();
      ConsoleFile.delete(folder.path());
    }
  }
}
