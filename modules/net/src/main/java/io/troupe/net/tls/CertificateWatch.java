package io.troupe.net.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Looks daily at a host's certificate, and says when it ends soon or has ended. */
public final class CertificateWatch {
  private static final ScheduledExecutorService DAILY =
      Executors.newSingleThreadScheduledExecutor(
          task -> Thread.ofPlatform().daemon().name("certificate-watch").unstarted(task));

  private static final Set<Path> WATCHED = ConcurrentHashMap.newKeySet();

  private CertificateWatch() {}

  /**
   * Looks a day from now, and then every day for as long as this process lives.
   *
   * @param say takes a sentence for the operator
   */
  public static void start(Path folder, Consumer<String> say) {
    if (!WATCHED.add(folder)) {
      return; // A node that joins again has reported it already.
    }
    Clock clock = Clock.systemUTC();
    var _ =
        DAILY.scheduleWithFixedDelay(
            () -> warning(folder, clock.instant()).ifPresent(say), 1, 1, TimeUnit.DAYS);
  }

  /** Returns the sentence that is due about the keys in a folder, if any. */
  public static Optional<String> warning(Path folder, Instant now) {
    try {
      HostKeys keys = HostKeys.in(folder);
      return keys.expired(now).or(() -> keys.warning(now));
    } catch (IOException unread) {
      return Optional.of("the keys cannot be read: " + unread.getMessage());
    }
  }
}
