package io.troupe.verifiers;

import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;

/** All verifiers by name: the built-in verifiers and the verifiers of plug-ins. */
public final class Verifiers {
  private final SortedMap<String, VerifierProvider> byName;

  private Verifiers(SortedMap<String, VerifierProvider> byName) {
    this.byName = byName;
  }

  /**
   * The built-in verifiers, and the verifiers on the class path and in the given jars.
   *
   * @throws IllegalArgumentException if a jar is missing or two verifiers have the same name
   */
  public static Verifiers with(List<Path> plugins) {
    return plugins.isEmpty() ? WithoutPlugins.VERIFIERS : found(plugins);
  }

  /** A search of the class path opens its jars, so that there is one. */
  private static final class WithoutPlugins {
    private static final Verifiers VERIFIERS = found(List.of());
  }

  private static Verifiers found(List<Path> plugins) {
    SortedMap<String, VerifierProvider> byName = new TreeMap<>();
    ServiceLoader.load(VerifierFamily.class, Verifiers.class.getClassLoader())
        .forEach(family -> family.providers().forEach(provider -> add(byName, provider)));
    ServiceLoader.load(VerifierProvider.class, loader(plugins))
        .forEach(provider -> add(byName, provider));
    return new Verifiers(byName);
  }

  private static void add(SortedMap<String, VerifierProvider> byName, VerifierProvider provider) {
    VerifierProvider other = byName.putIfAbsent(provider.name(), provider);
    if (other != null) {
      throw new IllegalArgumentException(
          "two verifiers are called %s: %s and %s; rename the plug-in's"
              .formatted(
                  provider.name(), other.getClass().getName(), provider.getClass().getName()));
    }
  }

  private static ClassLoader loader(List<Path> plugins) {
    ClassLoader own = Verifiers.class.getClassLoader();
    if (plugins.isEmpty()) {
      return own;
    }
    List<URL> urls = new ArrayList<>();
    for (Path plugin : plugins) {
      if (!Files.isReadable(plugin)) {
        throw new IllegalArgumentException(
            "the plug-in %s does not exist or cannot be read".formatted(plugin.toAbsolutePath()));
      }
      try {
        urls.add(plugin.toUri().toURL());
      } catch (MalformedURLException e) {
        throw new IllegalArgumentException("the plug-in's path cannot be a URL: " + plugin, e);
      }
    }
    // The class loader lives as long as its verifiers, which is as long as the process.
    return new URLClassLoader(urls.toArray(URL[]::new), own);
  }

  /** Every verifier, by name. */
  public List<VerifierProvider> all() {
    return List.copyOf(byName.values());
  }

  /**
   * The verifier of that name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the known names
   */
  public VerifierProvider named(String name) {
    VerifierProvider provider = byName.get(name);
    if (provider == null) {
      throw new IllegalArgumentException(
          "there is no verifier '%s'; there are %s"
              .formatted(name, String.join(", ", byName.keySet())));
    }
    return provider;
  }

  /**
   * Makes the verifier of a specification, for use in this process.
   *
   * @throws IllegalArgumentException if the specification is wrong
   * @throws IOException if this machine lacks something that the verifier needs
   */
  public static Verifier create(VerifierSpec spec, int workers) throws IOException {
    return with(spec.plugins())
        .named(spec.name())
        .create(new VerifierOptions(spec.options(), workers));
  }
}
