package io.troupe.verifiers.code;

import java.util.List;

/** The result of a job. */
sealed interface SandboxResult {
  /**
   * The tests ran, or failed together with the program.
   *
   * @param tests all tests of the job, in order
   */
  record Judged(List<TestResult> tests, ProgramExit ending) implements SandboxResult {
    public Judged {
      tests = List.copyOf(tests);
    }
  }

  /**
   * The result of one test.
   *
   * @param reason why it failed; empty if it passed
   */
  record TestResult(boolean passed, String reason) {}

  /**
   * A whole program ran.
   *
   * @param output cut at the limit
   * @param flood whether the output was cut
   * @param raised name of the error that ended the program; empty without one
   */
  record Ran(String output, boolean flood, String raised, ProgramExit ending)
      implements SandboxResult {}

  /** The program ended before its judge could report a result. */
  record Ended(ProgramExit ending) implements SandboxResult {}

  /** The tests are broken for every program. */
  record BadProblem(String reason) implements SandboxResult {}

  /** The sandbox failed, or no worker became free. */
  record Failed(String reason) implements SandboxResult {}
}
