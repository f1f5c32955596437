package io.troupe.engine.djl.install;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The PyTorch of this process: DJL's own, or an installed one. DJL reads the choice while it loads,
 * once a process, from the properties that this class sets.
 */
public final class TorchSelection {
  private static final String PATH = "PYTORCH_LIBRARY_PATH";
  private static final String VERSION = "PYTORCH_VERSION";
  private static final String FLAVOUR = "PYTORCH_FLAVOR";

  private static Optional<InstalledTorch> chosen = Optional.empty();

  private TorchSelection() {}

  /**
   * Chooses the PyTorch of this process, before DJL loads.
   *
   * @param place of {@code policy.torch}; empty means that of {@value TorchSearch#VARIABLE}, or
   *     DJL's own
   * @throws UnusableTorchException if it cannot be used; says why and names the next command
   */
  public static synchronized void choose(String place) {
    Map<String, String> environment = System.getenv();
    String named = place.isEmpty() ? environment.getOrDefault(TorchSearch.VARIABLE, "") : place;
    if (named.isEmpty()) {
      return;
    }
    try {
      InstalledTorch torch = TorchSearch.at(named);
      if (chosen.isPresent() && !chosen.get().equals(torch)) {
        throw new UnusableTorchException(
            "%s: this process uses %s already; a process has one".formatted(torch, chosen.get()));
      }
      requireNoOther(torch, environment);
      properties(torch, BindingCache.here()).forEach(System::setProperty);
      chosen = Optional.of(torch);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(
          "%s: %s".formatted(named, unreadable.getMessage()), unreadable);
    }
  }

  /** The installed PyTorch of this process; nothing if it is DJL's own. */
  public static synchronized Optional<InstalledTorch> chosen() {
    return chosen;
  }

  /** Returns the properties that DJL reads, environment first, to load a PyTorch. */
  static Map<String, String> properties(InstalledTorch torch, BindingCache cache)
      throws IOException {
    return Map.of(
        PATH, torch.lib().toString(), VERSION, torch.release(), FLAVOUR, cache.flavour(torch));
  }

  private static void requireNoOther(InstalledTorch torch, Map<String, String> environment) {
    List<String> set =
        Stream.of(PATH, VERSION, FLAVOUR)
            .filter(name -> !environment.getOrDefault(name, "").isEmpty())
            .toList();
    if (!set.isEmpty()) {
      throw new UnusableTorchException(
          "%s: the environment sets %s, which DJL would follow instead; unset them"
              .formatted(torch, String.join(", ", set)));
    }
  }
}
