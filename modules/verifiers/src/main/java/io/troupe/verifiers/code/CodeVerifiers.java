package io.troupe.verifiers.code;

import io.troupe.verifiers.VerifierOptions;
import io.troupe.verifiers.code.SandboxSettings.Isolation;
import java.nio.file.Path;
import java.time.Duration;

/** Makes code verifiers from options as text. */
public final class CodeVerifiers {
  private CodeVerifiers() {}

  /**
   * A verifier with a sandbox of its own.
   *
   * <p>Options: {@code timeout} (time of a program, 5s), {@code timeout_of_all_runs} (of all runs
   * of one that reads its input, 30s), {@code memory_mb} (1024), {@code processes} (32), {@code
   * python} (/usr/bin/python3), {@code partial_credit}, {@code first_block_only}, {@code
   * comparison} (exact, lines, tokens or numbers), {@code allow_unfiltered} (false; see {@link
   * Isolation#BUBBLEWRAP_MAYBE_UNFILTERED}), {@code allow_unsandboxed} (false; see {@link
   * Isolation#NONE}).
   *
   * @param benchmarkName for messages
   * @throws SandboxUnavailable if this machine cannot shut programs in
   */
  public static CodeVerifier create(
      String benchmarkName, CodeProfile benchmark, VerifierOptions options)
      throws SandboxUnavailable {
    CodeProfile profile =
        new CodeProfile(
            options.flag("first_block_only", benchmark.firstBlockOnly()),
            options.flag("partial_credit", benchmark.partialCredit()),
            options.choice("comparison", benchmark.comparison()));
    SandboxSettings standard = SandboxSettings.standard();
    Duration wall = options.duration("timeout", standard.wall());
    Duration all = options.duration("timeout_of_all_runs", wall.multipliedBy(6));
    SandboxSettings settings =
        new SandboxSettings(
            options.workers(),
            isolation(
                options.flag("allow_unsandboxed", false), options.flag("allow_unfiltered", false)),
            Path.of(options.text("python").orElse(standard.python().toString())),
            wall,
            all,
            (long) options.integer("memory_mb", (int) (standard.memoryBytes() >> 20), 128) << 20,
            options.integer("processes", standard.processes(), 1),
            standard.fileBytes(),
            standard.outputBytes());
    // Before processes are started for options that cannot be.
    options.refuseOthers(benchmarkName);
    return new CodeVerifier(profile, Sandbox.open(settings));
  }

  private static Isolation isolation(boolean unsandboxed, boolean unfiltered) {
    if (unsandboxed) {
      return Isolation.NONE;
    }
    return unfiltered ? Isolation.BUBBLEWRAP_MAYBE_UNFILTERED : Isolation.BUBBLEWRAP;
  }
}
