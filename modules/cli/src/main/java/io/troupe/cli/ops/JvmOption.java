package io.troupe.cli.ops;

import picocli.CommandLine.Option;

/** The option that names a process of the run. */
final class JvmOption {
  @Option(
      names = "--jvm",
      paramLabel = "NAME",
      description = "The process, as troupe actors shows it; the coordinator's by default.")
  private String name = "";

  /** For the query of a request. */
  String query() {
    return "jvm=" + ConsoleClient.encoded(name);
  }
}
