package io.troupe.cluster.tls;

import static java.util.Objects.requireNonNull;

import com.typesafe.config.Config;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
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

  private static final long DAY = Duration.ofDays(1).toSeconds();

  private CertificateWatch() {}

  /**
   * Looks a day from now, and then every day for as long as this process lives.
   *
   * @param say takes a sentence for the operator
   */
  public static void start(Path folder, Consumer<String> say) {
    if (!WATCHED.add(folder)) {
      return; // A node that joins again has told of it already.
    }
    Clock clock = Clock.systemUTC();
    var _ =
        DAILY.scheduleWithFixedDelay(
            () -> word(folder, clock.instant()).ifPresent(say), 1, 1, TimeUnit.DAYS);
  }

  /** What is to be said of the keys in a folder, if anything. */
  static Optional<String> word(Path folder, Instant now) {
    try {
      HostKeys keys = HostKeys.in(folder);
      return keys.ended(now).or(() -> keys.warning(now));
    } catch (IOException unread) {
      return Optional.of("the keys cannot be read: " + unread.getMessage());
    }
  }

  /**
   * Whole days until the certificate of a transport ends, negative once it has; empty if it cannot
   * be read.
   *
   * @param transport as {@link HostKeys#transport} made it
   */
  public static OptionalLong daysLeft(Config transport, Instant now) {
    Path store = Path.of(transport.getString(HostKeys.ENGINE + "key-store"));
    try {
      HostKeys keys = HostKeys.in(requireNonNull(store.getParent()));
      return OptionalLong.of(Math.floorDiv(Duration.between(now, keys.until()).toSeconds(), DAY));
    } catch (IOException unread) {
      return OptionalLong.empty();
    }
  }
}
