package io.troupe.verifiers.code;

import io.troupe.base.process.SearchPath;
import io.troupe.base.sandbox.SandboxDiagnosis;
import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.JudgedBy;
import io.troupe.environments.box.BoxSettings;
import io.troupe.environments.box.TestBoxes;
import io.troupe.environments.harbor.HarborGrader;
import io.troupe.verifiers.BuiltInVerifier;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.ThoughtReading;
import io.troupe.verifiers.VerifierFamily;
import io.troupe.verifiers.VerifierOptions;
import io.troupe.verifiers.VerifierProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The verifiers that run the program of a completion in a sandbox. */
public final class CodeVerifiers implements VerifierFamily {
  @Override
  public List<VerifierProvider> providers() {
    return List.of(
        verifier("mbpp", "a Python program in a sandbox, against asserts", CodeProfile.mbpp()),
        verifier(
            "humaneval",
            "the rest of a Python function in a sandbox, against a check function",
            CodeProfile.humanEval()),
        verifier(
            "apps",
            "a Python program in a sandbox, against its output or results; partial credit",
            CodeProfile.apps()),
        new BuiltInVerifier(
            "harbor",
            "what an episode hands in, by the tests of its task folder in a sandbox of their own",
            new JudgedBy.OneAnswer(),
            Isolation.SELF,
            true,
            false,
            ThoughtReading.KEEP,
            CodeVerifiers::harbor));
  }

  /**
   * A verifier with its own sandboxes.
   *
   * <p>Options: {@code memory_mb} (1024), {@code processes} (64), {@code files_mb} (64), {@code
   * python} (/usr/bin/python3). The time of tests is the task's own.
   *
   * @throws SandboxUnavailableException if this machine cannot isolate programs
   */
  private static HarborVerifier harbor(VerifierOptions options) throws SandboxUnavailableException {
    if (options.flag("allow_unsandboxed", false)) {
      throw new IllegalArgumentException(
          "verifier harbor has no way without a sandbox; set verifier.allow_unsandboxed_code to"
              + " false");
    }
    if (SearchPath.find("bwrap").isEmpty()) {
      throw new SandboxUnavailableException(SandboxDiagnosis.NO_BUBBLEWRAP);
    }
    BoxSettings standard = BoxSettings.standard();
    return new HarborVerifier(
        new HarborGrader(
            new TestBoxes(
                new BoxSettings(
                    options.workers(),
                    standard.timeout(),
                    (long) options.integer("memory_mb", 1024, 128) << 20,
                    options.integer("processes", 64, 4),
                    (long) options.integer("files_mb", 64, 32) << 20,
                    standard.outputBytes(),
                    Path.of(options.text("python").orElse(standard.python().toString()))))));
  }

  private static VerifierProvider verifier(String name, String summary, CodeProfile benchmark) {
    return new BuiltInVerifier(
        name,
        summary,
        CodeProblem.FIELDS,
        Isolation.SELF,
        true,
        false,
        ThoughtReading.DROP,
        options -> create(name, benchmark, options));
  }

  /**
   * A verifier with its own sandbox.
   *
   * <p>Options: {@code timeout} (time of a program, 5s), {@code timeout_of_all_runs} (of all runs
   * of a program that reads its input, 30s), {@code memory_mb} (1024), {@code processes} (32),
   * {@code python} (/usr/bin/python3), {@code partial_credit}, {@code first_block_only}, {@code
   * comparison} (exact, lines, tokens or numbers), {@code allow_unfiltered} (false; see {@link
   * SandboxSettings.SandboxIsolation#BUBBLEWRAP_MAYBE_UNFILTERED}), {@code allow_unsandboxed}
   * (false; see {@link SandboxSettings.SandboxIsolation#NONE}).
   *
   * @param benchmarkName for messages
   * @throws SandboxUnavailableException if this machine cannot isolate programs
   */
  private static CodeVerifier create(
      String benchmarkName, CodeProfile benchmark, VerifierOptions options)
      throws SandboxUnavailableException {
    CodeProfile profile =
        new CodeProfile(
            options.flag("first_block_only", benchmark.firstBlockOnly()),
            options.flag("partial_credit", benchmark.partialCredit()),
            options.choice("comparison", benchmark.comparison()));
    SandboxSettings standard = SandboxSettings.standard();
    CodeLimits usual = standard.limits();
    Duration wall = options.duration("timeout", usual.wall());
    Duration all = options.duration("timeout_of_all_runs", wall.multipliedBy(6));
    SandboxSettings settings =
        new SandboxSettings(
            options.workers(),
            isolation(
                options.flag("allow_unsandboxed", false), options.flag("allow_unfiltered", false)),
            Path.of(options.text("python").orElse(standard.python().toString())),
            new CodeLimits(
                wall,
                all,
                (long) options.integer("memory_mb", (int) (usual.memoryBytes() >> 20), 128) << 20,
                options.integer("processes", usual.processes(), 1),
                usual.fileBytes(),
                usual.outputBytes()));
    // Checked before processes are started for wrong options.
    options.refuseOthers(benchmarkName);
    return new CodeVerifier(profile, Sandbox.open(settings));
  }

  private static SandboxSettings.SandboxIsolation isolation(
      boolean unsandboxed, boolean unfiltered) {
    if (unsandboxed) {
      return SandboxSettings.SandboxIsolation.NONE;
    }
    return unfiltered
        ? SandboxSettings.SandboxIsolation.BUBBLEWRAP_MAYBE_UNFILTERED
        : SandboxSettings.SandboxIsolation.BUBBLEWRAP;
  }
}
