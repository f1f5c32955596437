package io.troupe.aws.interruption;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/** Asks the metadata of this instance every few seconds whether EC2 takes the instance back. */
public final class InterruptionWatch implements AutoCloseable {
  private static final URI METADATA = URI.create("http://169.254.169.254");
  private static final Path VENDOR = Path.of("/sys/class/dmi/id/sys_vendor");

  /** The interval that Amazon recommends. */
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  private final Optional<Thread> thread;

  private InterruptionWatch(Optional<Thread> thread) {
    this.thread = thread;
  }

  /**
   * Returns the address of this host's metadata.
   *
   * @param option {@code auto}: EC2's address if this host is one of EC2; {@code none}; or an
   *     address
   * @throws IllegalArgumentException if the option is none of these
   */
  public static Optional<URI> endpoint(String option) {
    return switch (option) {
      case "none" -> Optional.empty();
      case "auto" -> onEc2(VENDOR) ? Optional.of(METADATA) : Optional.empty();
      default -> {
        if (!option.matches("https?://[^/ ]+/?")) {
          throw new IllegalArgumentException(
              "is auto, none or an address such as %s, not '%s'".formatted(METADATA, option));
        }
        yield Optional.of(URI.create(option));
      }
    };
  }

  static boolean onEc2(Path vendor) {
    try {
      return Files.readString(vendor).strip().equals("Amazon EC2");
    } catch (IOException e) {
      return false; // Without DMI it is no virtual machine of EC2.
    }
  }

  /**
   * Watches until a notice came or the watch is closed.
   *
   * @param endpoint of the metadata; without one, nothing is watched
   * @param say receives sentences for the operator
   * @param onNotice called once, on the watch's thread
   */
  public static InterruptionWatch start(
      Optional<URI> endpoint, Consumer<String> say, Consumer<InterruptionNotice> onNotice) {
    return new InterruptionWatch(
        endpoint.map(
            there ->
                Thread.ofPlatform()
                    .daemon()
                    .name("interruption-watch")
                    .start(() -> watch(there, say, onNotice))));
  }

  private static void watch(
      URI endpoint, Consumer<String> say, Consumer<InterruptionNotice> onNotice) {
    SightingLog log = SightingLog.NOTHING;
    try (InstanceMetadata metadata = new InstanceMetadata(endpoint)) {
      while (true) {
        Sighting sighting = metadata.look();
        SightingLog.Next next = log.after(sighting, Instant.now());
        log = next.log();
        next.sentence().ifPresent(say);
        if (sighting instanceof Sighting.Interruption(InterruptionNotice notice)) {
          onNotice.accept(notice);
          return;
        }
        Thread.sleep(INTERVAL);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The watch is closed.
    }
  }

  @Override
  public void close() {
    thread.ifPresent(Thread::interrupt);
  }
}
