package io.troupe.environments.registry;

import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.calculator.CalculatorProvider;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/** The environments that a run may name: built-in ones and those of the class path. */
public final class Environments {
  private Environments() {}

  /**
   * The provider of a name.
   *
   * @throws IllegalArgumentException if there is none; the message has those that are there
   */
  public static EnvironmentProvider named(String name) {
    return all()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no environment is named '%s'; there are %s".formatted(name, names())));
  }

  /** The names that there are. */
  public static List<String> names() {
    return all().map(EnvironmentProvider::name).toList();
  }

  private static Stream<EnvironmentProvider> all() {
    return Stream.concat(
        Stream.of(new CalculatorProvider()),
        ServiceLoader.load(EnvironmentProvider.class).stream().map(ServiceLoader.Provider::get));
  }
}
